// The audit trail: runs, questions and refusals, newest first, with a search in all of them.

import { showStart, span } from './list.js';
import { badge, counted, empty, literal, make, namedSkill, revealed, sentence, timestamp, untrusted } from './make.js';
import { fetchJson } from './server.js';

const PAGE_SIZE = 25;
const KINDS = ['run', 'query', 'run-begin', 'query-begin', 'repeats'];
const TABS = [['', 'Everything'], ['runs', 'Runs'], ['questions', 'Questions'], ['refusals', 'Refusals']];

export async function showAudit(visit) {
  const asked = { find: visit.parameters.get('find') ?? '', only: visit.parameters.get('only') ?? '', page: Math.max(1, Number(visit.parameters.get('page')) || 1) };
  if (!visit.main.querySelector('.audit')) buildForm(visit);
  const box = visit.main.querySelector('#find');
  const result = visit.main.querySelector('.result');
  if (box.value.trim() !== asked.find) box.value = asked.find;
  result.classList.add('waiting');
  try {
    const data = await fetchJson('audit', { find: asked.find, only: asked.only, skip: (asked.page - 1) * PAGE_SIZE, last: PAGE_SIZE });
    if (visit.isStale) return;
    const used = document.activeElement?.closest('.pager') ? document.activeElement.textContent : null;
    result.replaceChildren(...[chain(data), tabs(data, asked), entries(data, asked)].flat(Infinity).filter(Boolean));
    if (used !== null) turned(result, used);
    visit.announce(asked.find === '' ? '' : matches(data));
  } finally {
    if (!visit.isStale) result.classList.remove('waiting');
  }
}

/** Keeps the focus where it was when the page was turned, and shows the first entry. */
function turned(result, used) {
  const links = [...result.querySelectorAll('.pager a')];
  (links.find(link => link.textContent === used) ?? links[0])?.focus({ preventScroll: true });
  const paged = result.querySelector('.paged');
  if (paged) showStart(paged);
}

const href = ({ find, only, page = 1 }) => {
  const parameters = Object.entries({ find, only, page: page > 1 ? page : '' }).filter(([, value]) => value !== '');
  return `#/audit${parameters.length > 0 ? '?' : ''}${new URLSearchParams(parameters)}`;
};

const matches = data => `${data.matches.toLocaleString('en')} of ${counted(data.lines, 'line')}`;

function buildForm(visit) {
  const search = event => {
    event.preventDefault();
    const only = new URLSearchParams(location.hash.split('?')[1]).get('only') ?? '';
    location.hash = href({ find: visit.main.querySelector('#find').value.trim(), only });
  };
  const box = make('input', {
    type: 'search', id: 'find', maxlength: 500, placeholder: 'Skill, script, reason, host or digest', autocomplete: 'off', spellcheck: 'false',
    // The cross in the box empties it.
    oninput: event => event.target.value === '' && search(event),
  });
  visit.main.replaceChildren(make('article', { class: 'audit page' },
    make('h1', {}, 'Audit trail'),
    make('form', { role: 'search', onsubmit: search },
      make('label', { for: 'find' }, 'Search the whole record'),
      make('div', { class: 'asking' }, box, make('button', { type: 'submit' }, 'Search')),
    ),
    make('div', { class: 'result' }),
  ));
}

function tabs(data, { find, only }) {
  if (data.lines === 0) return null;
  const links = TABS.map(([key, title]) => make('a', { href: href({ find, only: key }), 'aria-current': key === only && 'page' }, title));
  return make('nav', { class: 'tabs', 'aria-label': 'Which entries' }, links);
}

function entries(data, asked) {
  if (data.entries.length === 0) return nothing(data, asked);
  const { page } = asked;
  const last = Math.ceil(data.matches / PAGE_SIZE);
  const step = (text, to, label) => (to < 1 || to > last || to === page
    ? make('span', { class: 'button quiet', 'aria-hidden': 'true' }, text)
    : make('a', { class: 'button quiet', href: href({ ...asked, page: to }), 'aria-label': label }, text));
  return make('div', { class: 'paged' },
    last > 1 && make('nav', { class: 'pager', 'aria-label': 'Pages of the record' },
      step('«', 1, 'Newest entries'), step('‹ Newer', page - 1),
      make('span', { class: 'position' }, span((page - 1) * PAGE_SIZE, PAGE_SIZE, data.matches)),
      step('Older ›', page + 1), step('»', last, 'Oldest entries'),
    ),
    make('ol', { class: 'trail' }, data.entries.map(line)),
  );
}

/** Whether the record is intact. */
function chain(data) {
  if (data.error !== null) return make('div', { class: 'notice bad', role: 'alert' }, make('p', {}, sentence(data.error)));
  if (data.faults.length > 0) {
    return make('div', { class: 'notice bad', role: 'alert' },
      make('p', {}, make('strong', {}, 'The record was tampered with.')),
      make('ul', {}, data.faults.map(fault => make('li', {}, revealed(fault)))),
    );
  }
  return [
    make('p', { class: 'lead' }, badge('✓ chain verified', 'good'), ` ${counted(data.lines, 'line')} in `, literal(data.folder)),
    data.removed.map(removed => make('p', {}, revealed(removed))),
  ];
}

function nothing(data, { find, only, page }) {
  if (data.error !== null) return null;
  if (data.lines === 0) return empty('Nothing yet', make('p', {}, 'Every run of a script, every question to a service and every refusal is recorded here.'));
  if (page > 1) return empty('There are no older entries', make('p', {}, make('a', { href: href({ find, only }) }, 'Show the newest'), '.'));
  return empty('No entry matches', make('p', {}, `None of ${counted(data.lines, 'line')} does. `, make('a', { href: '#/audit' }, 'Show everything'), '.'));
}

// A line that was tampered with may contain anything.
const list = value => (Array.isArray(value) ? value.map(text) : []);
const text = value => (typeof value === 'string' ? value : JSON.stringify(value));

/** What was refused, according to an entry. */
function refused(entry) {
  const denials = [...list(entry.denials), ...list(entry.outcome?.denials)];
  const notGranted = Number(entry.outcome?.refusals) || 0;
  return [
    entry.kind === 'refusal' && text(entry.reason ?? 'refused'),
    notGranted > 0 && `${counted(notGranted, 'thing')} not granted`,
    ...denials,
  ].filter(Boolean);
}

function line(entry) {
  const { kind, time, skill, script, integration } = entry;
  const names = [integration, script].filter(Boolean).map(name => literal(text(name)));
  const denied = refused(entry);
  return make('li', { class: denied.length > 0 && 'refused' },
    make('div', { class: 'row-head' },
      skill ? namedSkill(text(skill), { isLink: false, more: names }) : make('span', { class: 'named' }, names),
      kind === 'refusal' ? badge('refused', 'bad') : badge(untrusted(text(kind ?? 'unreadable')), KINDS.includes(kind) ? '' : 'bad'),
      outcome(entry),
      make('span', { class: 'figure' }, took(entry), time && timestamp(text(time))),
    ),
    denied.map(reason => make('p', { class: 'reason' }, sentence(reason))),
    make('details', {}, make('summary', {}, entry.number === undefined ? 'This line' : `Line ${entry.number}`), make('pre', { class: 'text' }, revealed(JSON.stringify(entry, null, 2)))),
  );
}

const took = ({ duration_ms: milliseconds }) => typeof milliseconds === 'number' && make('span', {}, `${milliseconds.toLocaleString('en')} ms`);

function outcome({ kind, outcome, requests, of, count }) {
  if (kind === 'run-begin' || kind === 'query-begin') return badge('not ended: running, or its server was killed', 'warn');
  if (kind === 'repeats') return `refusal ${text(of)}, ${text(count)} more times`;
  if (kind !== 'run' && kind !== 'query') return null;
  if (typeof outcome === 'string') {
    const sent = list(requests).length;
    return make('span', {}, untrusted(outcome), sent > 0 && `, ${counted(sent, 'request')}`);
  }
  const { exit_code: code, limit_hit: limit, cancelled } = outcome ?? {};
  return [
    badge(`exit ${code}`, code === 0 ? 'good' : 'warn'),
    limit && badge(`limit: ${limit}`, 'warn'),
    cancelled && badge('cancelled', 'warn'),
  ];
}
