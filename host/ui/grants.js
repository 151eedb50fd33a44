// What scripts and integrations may have, as the operator's file says it.

import { badge, bytes, empty, literal, make, said, sentence, skillLink } from './make.js';
import { ask } from './server.js';

export async function showGrants(visit) {
  const told = await ask('grants');
  if (visit.isOver) return;
  visit.main.replaceChildren(make('article', { class: 'page' },
    make('h1', {}, 'Grants in force'),
    make('p', { class: 'lead' }, 'Only the operator’s file grants: ', literal(told.file), told.file_exists ? '.' : ', which is not there.'),
    told.grants.length === 0 ? none(told) : make('ul', { class: 'rows' }, told.grants.map(grant)),
    scripts(told.scripts),
    integrations(told.integrations),
  ));
}

function none(told) {
  const root = told.roots[0] ?? '~/team-skills';
  return empty('No grants',
    make('p', {}, 'Scripts read the folder of their skill and compute, nothing else. To give one more, add to the operator’s file:'),
    make('pre', { class: 'text' }, `grants:\n  ${root}:\n    skill-path:\n      read: [~/projects]\n      hosts: [api.example.com]\n`),
  );
}

function state({ missing, digest }) {
  if (missing !== null) return badge(`nobody has it: ${missing}`, 'warn');
  return badge(digest === null ? 'in force' : 'in force while the skill has this digest', 'good');
}

function grant(entry) {
  const path = ({ path, exists }) => [literal(path), !exists && badge('not there', 'warn')];
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
      entry.address === null ? said(entry.skill_path, { class: 'skill-name' }) : skillLink(entry.address),
      state(entry),
    ),
    literal(entry.root, { class: 'faint' }),
    make('dl', { class: 'facts' }, lists.length === 0
      ? make('div', {}, make('dt', {}, 'gives'), make('dd', {}, 'nothing'))
      : lists.map(([name, list]) => make('div', {}, make('dt', {}, name), make('dd', { class: 'list' }, list.map(one => make('span', {}, one)))))),
  );
}

function scripts({ enabled, deterministic, runs_at_once: atOnce, limits, runtimes }) {
  const section = (...inside) => make('section', {}, make('h2', {}, 'Scripts'), inside);
  if (!enabled) return section(make('p', { class: 'notice' }, 'No script runs: ', literal('scripts.enabled'), ' is off in the operator’s file.'));
  const pairs = [
    ['time', `${limits.timeout_seconds} s`],
    ['memory', bytes(limits.memory_bytes)],
    ['fuel', `${limits.fuel.toLocaleString('en')} steps`],
    ['output', `${bytes(limits.max_output_bytes)} of each stream`],
    ['scratch', `${bytes(limits.scratch_bytes)} in ${limits.scratch_files.toLocaleString('en')} files`],
    ['at once', String(atOnce)],
    ['time and chance', deterministic ? 'the same in every run' : 'real'],
    ['runtimes', make('span', { class: 'chips' }, runtimes.map(({ extension, runtime }) => make('span', { class: 'chip' }, `${extension} `, make('span', { class: 'faint' }, said(runtime)))))],
  ];
  return section(
    make('p', { class: 'faint' }, 'What every run is held to. A root’s own settings can only lower it.'),
    make('dl', { class: 'facts' }, pairs.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value)))),
  );
}

function integrations(list) {
  const rows = list.map(entry => make('li', {},
    make('div', { class: 'row-head' },
      make('strong', {}, said(entry.name)),
      entry.trouble === null ? badge('can be asked', 'good') : badge(entry.enabled ? sentence(entry.trouble) : 'switched off', entry.enabled ? 'warn' : ''),
    ),
    make('dl', { class: 'facts' },
      entry.address && make('div', {}, make('dt', {}, 'service'), make('dd', {}, literal(entry.address))),
      entry.hosts.length > 0 && make('div', {}, make('dt', {}, 'hosts'), make('dd', { class: 'list' }, entry.hosts.map(host => literal(host)))),
    ),
  ));
  return make('section', {},
    make('h2', {}, 'Integrations'),
    make('p', { class: 'faint' }, 'Whom ', literal('query'), ' may ask. They only read, and never hold a token.'),
    make('ul', { class: 'rows' }, rows),
  );
}
