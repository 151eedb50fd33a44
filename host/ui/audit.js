// The audit trail: runs, questions and refusals, newest first.

import { badge, counted, empty, literal, make, revealed, sentence, timestamp, untrusted } from './make.js';
import { fetchJson } from './server.js';

const PAGE_SIZE = 100;
const KINDS = ['run', 'query', 'run-begin', 'query-begin', 'repeats'];

export async function showAudit(visit) {
  const last = Number(visit.parameters.get('last')) || PAGE_SIZE;
  const onlyRefusals = visit.parameters.get('only') === 'refusals';
  const data = await fetchJson('audit', { last });
  if (visit.isStale) return;
  const entries = data.entries.filter(entry => !onlyRefusals || refused(entry).length > 0);
  const link = (text, only, isCurrent) => make('a', { href: `#/audit${only ? '?only=refusals' : ''}`, 'aria-current': isCurrent && 'page' }, text);
  const older = data.lines > last && data.entries.length === last
    && make('a', { class: 'button', href: `#/audit?${new URLSearchParams({ last: last * 4, ...(onlyRefusals && { only: 'refusals' }) })}` }, `Show older entries (${data.lines.toLocaleString('en')} in total)`);
  visit.main.replaceChildren(make('article', { class: 'page' },
    make('h1', {}, 'Audit trail'),
    chain(data),
    data.lines > 0 && make('nav', { class: 'tabs', 'aria-label': 'Which entries' }, link('Everything', false, !onlyRefusals), link('Refusals', true, onlyRefusals)),
    entries.length > 0 && make('ol', { class: 'trail' }, entries.map(line)),
    entries.length === 0 && nothing(data, onlyRefusals),
    older,
  ));
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

function nothing(data, onlyRefusals) {
  if (data.error !== null) return null;
  if (onlyRefusals && data.lines > 0) return empty('No refusals', make('p', {}, 'None of these entries is a refusal.'));
  return empty('Nothing yet', make('p', {}, 'Every run of a script, every question to a service and every refusal is recorded here.'));
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
  const names = [integration, skill, script].filter(Boolean).map(text);
  const denied = refused(entry);
  return make('li', { class: denied.length > 0 && 'refused' },
    make('div', { class: 'row-head' },
      time && timestamp(text(time)),
      kind === 'refusal' ? badge('refused', 'bad') : badge(untrusted(text(kind ?? 'unreadable')), KINDS.includes(kind) ? '' : 'bad'),
      make('span', { class: 'names' }, names.map(name => literal(name))),
      make('span', { class: 'figure' }, outcome(entry)),
    ),
    denied.map(reason => make('p', { class: 'reason' }, sentence(reason))),
    make('details', {}, make('summary', {}, entry.number === undefined ? 'This line' : `Line ${entry.number}`), make('pre', { class: 'text' }, revealed(JSON.stringify(entry, null, 2)))),
  );
}

function outcome({ kind, outcome, duration_ms: milliseconds, requests, of, count }) {
  if (kind === 'run-begin' || kind === 'query-begin') return badge('not ended: running, or its server was killed', 'warn');
  if (kind === 'repeats') return `refusal ${text(of)}, ${text(count)} more times`;
  if (kind !== 'run' && kind !== 'query') return '';
  const took = typeof milliseconds === 'number' ? `${milliseconds.toLocaleString('en')} ms` : null;
  if (typeof outcome === 'string') {
    const sent = list(requests).length;
    return make('span', {}, untrusted(outcome), sent > 0 && `, ${counted(sent, 'request')}`, took && `, ${took}`);
  }
  const { exit_code: code, limit_hit: limit, cancelled } = outcome ?? {};
  return [
    badge(`exit ${code}`, code === 0 ? 'good' : 'warn'),
    limit && badge(`limit: ${limit}`, 'warn'),
    cancelled && badge('cancelled', 'warn'),
    took && make('span', {}, took),
  ];
}
