// The audit trail: what ran, what was asked and what was refused, the newest first.

import { badge, counted, empty, literal, make, moment, said, seen, sentence } from './make.js';
import { ask } from './server.js';

/** Entries that are brought at once. */
const AT_ONCE = 100;

export async function showAudit(visit) {
  const last = Number(visit.parameters.get('last')) || AT_ONCE;
  const onlyRefusals = visit.parameters.get('only') === 'refusals';
  const told = await ask('audit', { last });
  if (visit.isOver) return;
  const entries = told.entries.filter(entry => !onlyRefusals || refused(entry).length > 0);
  const link = (text, only, isCurrent) => make('a', { href: `#/audit${only ? '?only=refusals' : ''}`, 'aria-current': isCurrent && 'page' }, text);
  const older = told.lines > last && told.entries.length === last
    && make('a', { class: 'button', href: `#/audit?${new URLSearchParams({ last: last * 4, ...(onlyRefusals && { only: 'refusals' }) })}` }, `Show older of ${counted(told.lines, 'line')}`);
  visit.main.replaceChildren(make('article', { class: 'page' },
    make('h1', {}, 'Audit trail'),
    chain(told),
    told.lines > 0 && make('nav', { class: 'tabs', 'aria-label': 'Which entries' }, link('Everything', false, !onlyRefusals), link('Refusals', true, onlyRefusals)),
    entries.length > 0 && make('ol', { class: 'trail' }, entries.map(line)),
    entries.length === 0 && nothing(told, onlyRefusals),
    older,
  ));
}

/** Whether the record is whole. */
function chain(told) {
  if (told.trouble !== null) return make('div', { class: 'notice bad', role: 'alert' }, make('p', {}, sentence(told.trouble)));
  if (told.faults.length > 0) {
    return make('div', { class: 'notice bad', role: 'alert' },
      make('p', {}, make('strong', {}, 'The record was tampered with.')),
      make('ul', {}, told.faults.map(fault => make('li', {}, seen(fault)))),
    );
  }
  return make('p', { class: 'lead' }, badge('✓ chain verified', 'good'), ` ${counted(told.lines, 'line')} in `, literal(told.folder));
}

function nothing(told, onlyRefusals) {
  if (told.trouble !== null) return null;
  if (onlyRefusals && told.lines > 0) return empty('No refusals', make('p', {}, 'Nothing among these lines was refused.'));
  return empty('Nothing yet', make('p', {}, 'Every script that runs, every question to a service and every refusal leaves a line here.'));
}

// A line may say anything: somebody may have changed it.
const list = value => (Array.isArray(value) ? value.map(text) : []);
const text = value => (typeof value === 'string' ? value : JSON.stringify(value));

/** What an entry says was not given. */
function refused(entry) {
  const denials = [...list(entry.denials), ...list(entry.outcome?.denials)];
  const asked = Number(entry.outcome?.refusals) || 0;
  return [
    entry.kind === 'refusal' && text(entry.reason ?? 'refused'),
    asked > 0 && `${counted(asked, 'thing')} not granted`,
    ...denials,
  ].filter(Boolean);
}

function line(entry) {
  const { kind, time, skill, script, integration } = entry;
  const names = [integration, skill, script].filter(Boolean).map(text);
  const denied = refused(entry);
  return make('li', { class: denied.length > 0 && 'refused' },
    make('div', { class: 'row-head' },
      time && moment(text(time)),
      kind === 'refusal' ? badge('refused', 'bad') : badge(said(text(kind ?? 'unreadable')), kind === 'run' || kind === 'query' ? '' : 'bad'),
      make('span', { class: 'names' }, names.map(name => literal(name))),
      make('span', { class: 'figure' }, outcome(entry)),
    ),
    denied.map(reason => make('p', { class: 'reason' }, sentence(reason))),
    make('details', {}, make('summary', {}, entry.number === undefined ? 'This line' : `Line ${entry.number}`), make('pre', { class: 'text' }, seen(JSON.stringify(entry, null, 2)))),
  );
}

function outcome({ kind, outcome, duration_ms: milliseconds, requests }) {
  if (kind !== 'run' && kind !== 'query') return '';
  const took = typeof milliseconds === 'number' ? `${milliseconds.toLocaleString('en')} ms` : null;
  if (typeof outcome === 'string') {
    const sent = list(requests).length;
    return make('span', {}, said(outcome), sent > 0 && `, ${counted(sent, 'request')}`, took && `, ${took}`);
  }
  const { exit_code: code, limit_hit: limit, cancelled } = outcome ?? {};
  return [
    badge(`exit ${code}`, code === 0 ? 'good' : 'warn'),
    limit && badge(`limit: ${limit}`, 'warn'),
    cancelled && badge('cancelled', 'warn'),
    took && make('span', {}, took),
  ];
}
