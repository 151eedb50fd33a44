// How often skills were used on this machine.

import { pages } from './list.js';
import { empty, literal, make, namedSkill, timestamp, untrusted } from './make.js';
import { fetchJson } from './server.js';

const COLUMNS = ['Skill', 'Served', 'Last used', 'Useful', 'Assets', 'Scripts', 'Tools called after it'];

/** For empty cells. */
const NONE = '–';

export async function showUsage(visit) {
  const data = await fetchJson('usage');
  if (visit.isStale) return;
  visit.main.replaceChildren(make('article', { class: 'page wide' },
    make('h1', {}, 'Usage'),
    data.since === null ? none(data) : [summary(data), skills(data)],
  ));
}

function none(data) {
  return empty('No history yet',
    data.enabled
      ? make('p', {}, 'From now on, the skills that servers of this user serve are counted.')
      : make('p', {}, 'Analytics is disabled. To count on this machine, without sending anything, add to ', literal(data.file), ':'),
    !data.enabled && make('pre', { class: 'text' }, 'analytics: {enabled: true}\n'),
  );
}

function summary(data) {
  const figures = [
    ['since', timestamp(data.since)],
    ['served', data.skills.reduce((sum, skill) => sum + skill.served, 0).toLocaleString('en')],
    ['no match', data.no_match.toLocaleString('en')],
    ['ambiguous', data.ambiguous.toLocaleString('en')],
    ['waiting to be sent', data.events_waiting.toLocaleString('en')],
    ['dropped', data.events_dropped.toLocaleString('en')],
  ];
  const where = data.endpoint ? ['Events are sent to ', literal(data.endpoint), '.'] : ['Nothing is sent anywhere.'];
  return [
    make('p', { class: 'lead' }, data.enabled ? '' : 'Analytics is disabled now. ', where),
    make('dl', { class: 'figures' }, figures.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value)))),
  ];
}

function skills({ skills }) {
  if (skills.length === 0) return empty('No skill has been served yet');
  const maxServed = Math.max(1, ...skills.map(skill => skill.served));
  const body = make('tbody');
  const show = (from, to) => body.replaceChildren(...skills.slice(from, to).map(skill => row(skill, maxServed)));
  return make('div', { class: 'paged' },
    pages(skills.length, show, { label: 'used skills' }),
    make('table', { class: 'usage' }, make('thead', {}, make('tr', {}, COLUMNS.map(name => make('th', { scope: 'col' }, name)))), body),
  );
}

function row(skill, maxServed) {
  const cell = (column, ...inside) => make('td', { 'data-label': COLUMNS[column], class: inside[0] === NONE && 'none' }, inside);
  const fill = make('span', { class: 'fill' });
  fill.style.setProperty('--share', skill.served / maxServed);
  const after = Object.entries(skill.tools_after).sort(([, one], [, other]) => other - one);
  const isRated = skill.useful + skill.not_useful > 0;
  const hasRuns = skill.scripts_run > 0;
  return make('tr', {},
    make('th', { scope: 'row' }, namedSkill(skill.skill_path)),
    cell(1, make('span', { class: 'amount' }, skill.served.toLocaleString('en')), make('span', { class: 'bar', 'aria-hidden': 'true' }, fill)),
    cell(2, timestamp(skill.last_used)),
    cell(3, isRated ? `${skill.useful} yes, ${skill.not_useful} no` : NONE),
    cell(4, skill.assets_served ? skill.assets_served.toLocaleString('en') : NONE),
    cell(5, hasRuns ? make('span', {}, skill.scripts_run.toLocaleString('en'), skill.scripts_failed > 0 && make('span', { class: 'failed' }, ` ${skill.scripts_failed} failed`)) : NONE),
    cell(6, after.length === 0 ? NONE : make('span', { class: 'chips' }, after.map(([tool, count]) => make('span', { class: 'chip' }, untrusted(tool), ` ${count}`)))),
  );
}
