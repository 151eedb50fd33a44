// The files of a skill: its scripts, what it declares, and everything that is in its folder.

import { rows } from './list.js';
import { badge, bytes, counted, literal, make, skillLink, untrusted } from './make.js';

/** Folders of a skill with at most this many files are shown expanded. */
const MAX_EXPANDED = 40;

/** The number of files of a skill, whether they are its own, inherited, or declared but missing. */
export function countOf(skill) {
  const own = new Set(skill.files.map(file => file.path));
  const others = [...skill.scripts, ...skill.assets].filter(entry => entry.from || !own.has(entry.file));
  return own.size + others.length;
}

export function files(skill) {
  const own = new Set(skill.files.map(file => file.path));
  const isMissing = entry => !entry.from && !own.has(entry.file);
  const section = (title, list, row) => list.length > 0 && [
    make('h2', {}, `${title} (${list.length.toLocaleString('en')})`),
    rows(list, entry => row(entry, isMissing(entry), skill.grant), { label: title.toLowerCase() }),
  ];
  if (countOf(skill) === 0) return make('p', { class: 'faint' }, 'It has no files but its Markdown file.');
  return [
    section('Scripts', skill.scripts, script),
    section('Assets', skill.assets, asset),
    skill.files.length > 0 && everything(skill),
  ];
}

/** All files in the folder of the skill, as a tree. */
function everything(skill) {
  const scripts = new Map(skill.scripts.filter(entry => !entry.from).map(entry => [entry.file, entry]));
  const total = skill.files.reduce((sum, file) => sum + file.size, 0);
  const isOpen = skill.files.length <= MAX_EXPANDED;
  return [
    make('h2', {}, `Everything in its folder (${skill.files.length.toLocaleString('en')})`),
    make('p', { class: 'faint' }, literal(skill.folder), `, ${bytes(total)}`),
    folder(nested(skill.files), scripts, isOpen, 'the folder'),
  ];
}

/** Files by folder: `{ files, folders }`, each folder alike. */
function nested(files) {
  const top = { files: [], folders: new Map(), count: 0 };
  for (const file of files) {
    const parts = file.path.split('/');
    const name = parts.pop();
    let inside = top;
    inside.count += 1;
    for (const part of parts) {
      if (!inside.folders.has(part)) inside.folders.set(part, { files: [], folders: new Map(), count: 0 });
      inside = inside.folders.get(part);
      inside.count += 1;
    }
    inside.files.push({ ...file, name });
  }
  return top;
}

function folder(inside, scripts, isOpen, label) {
  const row = entry => (entry.below ? below(entry, scripts, isOpen) : make('li', { class: 'file' },
    make('div', { class: 'row-head' },
      literal(entry.name),
      scripts.has(entry.path) && badge('script', 'good'),
      make('span', { class: 'figure' }, bytes(entry.size)),
    ),
  ));
  const entries = [...[...inside.folders].map(([name, below]) => ({ name, below })), ...inside.files];
  return rows(entries, row, { label: `files in ${label}`, kind: 'files', size: 50 });
}

function below({ name, below }, scripts, isOpen) {
  const details = make('details', { open: isOpen, ontoggle: () => fill() },
    make('summary', {}, literal(`${name}/`), make('span', { class: 'faint' }, ` ${counted(below.count, 'file')}`)),
  );
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(folder(below, scripts, isOpen, name));
  };
  fill();
  return make('li', {}, details);
}

const from = entry => entry.from && make('span', { class: 'faint' }, 'inherited from ', skillLink(entry.from));

const missing = isMissing => isMissing && badge('no such file', 'bad');

function asset(entry, isMissing) {
  return make('li', {},
    make('div', { class: 'row-head' }, literal(entry.file), badge(untrusted(entry.type)), missing(isMissing), from(entry)),
    entry.description && make('p', {}, untrusted(entry.description)),
  );
}

/** Who runs a script. */
function runner({ execution, runtime }) {
  if (execution !== 'server') return badge('for the agent to run');
  return runtime ? badge(['runs in the sandbox: ', untrusted(runtime)], 'good') : badge('does not run here', 'warn');
}

function script(entry, isMissing, grant) {
  return make('li', {},
    make('div', { class: 'row-head' }, literal(entry.file), runner(entry), !entry.declared && badge('not declared'), missing(isMissing), from(entry)),
    entry.description && make('p', {}, untrusted(entry.description)),
    entry.args.length > 0 && make('dl', { class: 'arguments' }, entry.args.map(argument => make('div', {},
      make('dt', {}, literal(argument.name), argument.required && badge('required')),
      make('dd', {}, untrusted(argument.description)),
    ))),
    needs(entry, grant),
  );
}

/** What a script needs, and whether the operator granted anything to its skill. */
function needs(entry, grant) {
  const needed = ['read', 'write', 'variables', 'hosts'].map(kind => [kind, entry.needs?.[kind] ?? []]).filter(([, list]) => list.length > 0);
  if (needed.length === 0) return null;
  const chips = needed.map(([kind, list]) => make('div', {}, make('dt', {}, kind), make('dd', { class: 'chips' }, list.map(one => untrusted(one, { class: 'chip' })))));
  const note = grant ? ['A grant for this skill is in the operator’s file: ', make('a', { href: '#/grants' }, 'see grants'), '.'] : ['No grant covers this skill, so it gets none of these.'];
  return make('div', { class: 'needs' }, make('p', { class: 'faint' }, 'Needs'), make('dl', { class: 'facts' }, chips), make('p', { class: 'faint' }, note));
}
