// What was used on this machine, and how often.

import { counted, empty, literal, make, moment, said, skillLink } from './make.js';
import { ask } from './server.js';

const COLUMNS = ['Skill', 'Served', 'Last used', 'Useful', 'Assets', 'Scripts', 'Tools called after it'];

/** In a cell with nothing to tell. */
const NONE = '–';

/** Most rows that are shown at first. */
const AT_ONCE = 200;

export async function showUsage(visit) {
  const told = await ask('usage');
  if (visit.isOver) return;
  visit.main.replaceChildren(make('article', { class: 'page wide' },
    make('h1', {}, 'Usage'),
    told.since === null ? none(told) : [summary(told), skills(told)],
  ));
}

function none(told) {
  return empty('No history yet',
    told.enabled
      ? make('p', {}, 'What servers of this user hand out is counted from now on.')
      : make('p', {}, 'Nothing is counted. To count on this machine, without sending anything, add to ', literal(told.file), ':'),
    !told.enabled && make('pre', { class: 'text' }, 'analytics: {enabled: true}\n'),
  );
}

function summary(told) {
  const figures = [
    ['since', moment(told.since)],
    ['served', told.skills.reduce((sum, skill) => sum + skill.served, 0).toLocaleString('en')],
    ['no match', told.no_match.toLocaleString('en')],
    ['ambiguous', told.ambiguous.toLocaleString('en')],
    ['waiting to be sent', told.events_waiting.toLocaleString('en')],
    ['dropped', told.events_dropped.toLocaleString('en')],
  ];
  const where = told.endpoint ? ['Events are sent to ', literal(told.endpoint), '.'] : ['Nothing is sent anywhere.'];
  return [
    make('p', { class: 'lead' }, told.enabled ? '' : 'Counting is switched off now. ', where),
    make('dl', { class: 'figures' }, figures.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value)))),
  ];
}

function skills({ skills }) {
  if (skills.length === 0) return empty('No skill was served yet');
  const most = Math.max(1, ...skills.map(skill => skill.served));
  const body = make('tbody');
  const more = make('button', { type: 'button', onclick: () => grow() });
  const grow = () => {
    const from = body.children.length;
    body.append(...skills.slice(from, from + AT_ONCE).map(skill => row(skill, most)));
    const left = skills.length - body.children.length;
    if (left === 0) more.remove();
    else more.textContent = `Show more of ${counted(left, 'skill')}`;
  };
  const table = make('table', { class: 'usage' }, make('thead', {}, make('tr', {}, COLUMNS.map(name => make('th', { scope: 'col' }, name)))), body);
  const all = [table, more];
  grow();
  return all.filter(part => part !== more || body.children.length < skills.length);
}

function row(skill, most) {
  const cell = (column, ...inside) => make('td', { 'data-label': COLUMNS[column], class: inside[0] === NONE && 'none' }, inside);
  const fill = make('span', { class: 'fill' });
  fill.style.setProperty('--share', skill.served / most);
  const after = Object.entries(skill.tools_after).sort(([, one], [, other]) => other - one);
  const judged = skill.useful + skill.not_useful > 0;
  const ran = skill.scripts_run > 0;
  return make('tr', {},
    make('th', { scope: 'row' }, skillLink(skill.skill_path)),
    cell(1, make('span', { class: 'amount' }, skill.served.toLocaleString('en')), make('span', { class: 'bar', 'aria-hidden': 'true' }, fill)),
    cell(2, moment(skill.last_used)),
    cell(3, judged ? `${skill.useful} yes, ${skill.not_useful} no` : NONE),
    cell(4, skill.assets_served ? skill.assets_served.toLocaleString('en') : NONE),
    cell(5, ran ? make('span', {}, skill.scripts_run.toLocaleString('en'), skill.scripts_failed > 0 && make('span', { class: 'failed' }, ` ${skill.scripts_failed} failed`)) : NONE),
    cell(6, after.length === 0 ? NONE : make('span', { class: 'chips' }, after.map(([tool, count]) => make('span', { class: 'chip' }, said(tool), ` ${count}`)))),
  );
}
