// What the operator's file grants to scripts and integrations.

import { rows } from './list.js';
import { badge, bytes, empty, literal, make, namedSkill, sentence, untrusted } from './make.js';
import { fetchJson } from './server.js';

export async function showGrants(visit) {
  const data = await fetchJson('grants');
  if (visit.isStale) return;
  visit.main.replaceChildren(make('article', { class: 'page' },
    make('h1', {}, 'Grants in force'),
    make('p', { class: 'lead' }, 'Grants come only from the operator’s file: ', literal(data.file), data.file_exists ? '.' : ', which does not exist.'),
    data.grants.length === 0 ? none(data) : rows(data.grants, grant, { label: 'grants' }),
    scripts(data.scripts),
    integrations(data.integrations),
  ));
}

function none(data) {
  const root = data.roots[0] ?? '~/team-skills';
  return empty('No grants',
    make('p', {}, 'Without a grant, a script can read only the folder of its skill. To grant more, add to the operator’s file:'),
    make('pre', { class: 'text' }, `grants:\n  ${root}:\n    skill-path:\n      read: [~/projects]\n      hosts: [api.example.com]\n`),
  );
}

function state({ missing, digest }) {
  if (missing !== null) return badge(`not in force: ${missing}`, 'warn');
  return badge(digest === null ? 'in force' : 'in force while the skill has this digest', 'good');
}

function grant(entry) {
  const path = ({ path, exists }) => [literal(path), !exists && badge('does not exist', 'warn')];
  const variable = ({ name, is_set }) => [literal(name), !is_set && badge('not set', 'warn')];
  const lists = [
    ['read', entry.read.map(path)],
    ['write', entry.write.map(path)],
    ['variables', entry.variables.map(variable)],
    ['hosts', entry.hosts.map(host => literal(host))],
    ['pinned to', entry.digest ? [literal(entry.digest)] : []],
  ].filter(([, list]) => list.length > 0);
  return make('li', {},
    make('div', { class: 'row-head' },
      namedSkill(entry.address ?? entry.skill_path, { isLink: entry.address !== null }),
      state(entry),
    ),
    literal(entry.root, { class: 'faint' }),
    make('dl', { class: 'facts' }, lists.length === 0
      ? make('div', {}, make('dt', {}, 'grants'), make('dd', {}, 'nothing'))
      : lists.map(([name, list]) => make('div', {}, make('dt', {}, name), make('dd', { class: 'list' }, list.map(one => make('span', {}, one)))))),
  );
}

function scripts({ enabled, deterministic, runs_at_once: atOnce, limits, runtimes }) {
  const section = (...inside) => make('section', {}, make('h2', {}, 'Scripts'), inside);
  if (!enabled) return section(make('p', { class: 'notice' }, 'Scripts are disabled: ', literal('scripts.enabled'), ' is false in the operator’s file.'));
  const pairs = [
    ['timeout', `${limits.timeout_seconds} s`],
    ['memory', bytes(limits.memory_bytes)],
    ['fuel', `${limits.fuel.toLocaleString('en')} units`],
    ['output', `${bytes(limits.max_output_bytes)} per stream`],
    ['scratch', `${bytes(limits.scratch_bytes)} in ${limits.scratch_files.toLocaleString('en')} files`],
    ['concurrent runs', String(atOnce)],
    ['clock, random', deterministic ? 'the same in every run' : 'real'],
    ['runtimes', make('span', { class: 'chips' }, runtimes.map(({ extension, runtime }) => make('span', { class: 'chip' }, `${extension} `, make('span', { class: 'faint' }, untrusted(runtime)))))],
  ];
  return section(
    make('p', { class: 'faint' }, 'The limits of every run. The settings of a root can only lower them.'),
    make('dl', { class: 'facts' }, pairs.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value)))),
  );
}

function integrations(list) {
  const row = entry => make('li', {},
    make('div', { class: 'row-head' },
      make('strong', {}, untrusted(entry.name)),
      entry.error === null ? badge('ready', 'good') : badge(entry.enabled ? sentence(entry.error) : 'disabled', entry.enabled ? 'warn' : ''),
    ),
    make('dl', { class: 'facts' },
      entry.address && make('div', {}, make('dt', {}, 'service'), make('dd', {}, literal(entry.address))),
      entry.hosts.length > 0 && make('div', {}, make('dt', {}, 'hosts'), make('dd', { class: 'list' }, entry.hosts.map(host => literal(host)))),
    ),
  );
  return make('section', {},
    make('h2', {}, 'Integrations'),
    make('p', { class: 'faint' }, 'The services that ', literal('query'), ' can use. Integrations only read, and never see a token.'),
    rows(list, row, { label: 'integrations' }),
  );
}
