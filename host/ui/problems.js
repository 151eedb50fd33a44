// What is wrong with files, grouped by kind.

import { rows } from './list.js';
import { badge, counted, literal, make, sentence, untrusted } from './make.js';

/** With fewer problems, their groups are expanded and need no filter. */
const FEW = 10;

/** All problems of the catalog. With `hasRoots`, each is shown with its root. */
export function problems({ total, kinds }, hasRoots) {
  if (total === 0) {
    return make('section', {}, make('h2', {}, 'Problems'), make('p', { class: 'good-news' }, 'None: every skill is served.'), lintNote());
  }
  const groups = make('div', { class: 'groups' });
  const status = make('p', { class: 'count', role: 'status' });
  const show = text => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = kinds.map(kind => matching(kind, words)).filter(kind => kind.count > 0);
    const count = shown.reduce((sum, kind) => sum + kind.count, 0);
    groups.replaceChildren(...shown.map(kind => group(kind, total < FEW, hasRoots)));
    status.textContent = words.length === 0 ? '' : count === 0 ? 'No problem matches' : `${count.toLocaleString('en')} of ${counted(total, 'problem')}`;
  };
  show('');
  const filter = total >= FEW && make('div', { class: 'finder inline' },
    make('label', { for: 'problem-filter' }, 'Filter problems'),
    make('input', {
      type: 'search', id: 'problem-filter', placeholder: 'File, message or code', autocomplete: 'off', spellcheck: 'false',
      oninput: event => show(event.target.value),
    }),
    status,
  );
  return make('section', { class: 'problems' }, make('h2', {}, counted(total, 'problem')), filter, groups, lintNote());
}

const lintNote = () => make('p', { class: 'faint' }, literal('skillcell lint'), ' checks more, such as links and scripts.');

/** The problems of a kind that contain all words. */
function matching(kind, words) {
  if (words.length === 0) return kind;
  const has = found => {
    const text = [kind.code, found.root, found.file, found.message].join('\n').toLowerCase();
    return words.every(word => text.includes(word));
  };
  const problems = kind.problems.filter(has);
  return { ...kind, problems, count: problems.length };
}

function group(kind, isOpen, hasRoots) {
  const left = kind.count - kind.problems.length;
  const [{ advice }] = kind.problems;
  const isShared = kind.problems.length > 1 && kind.problems.every(found => found.advice === advice);
  const list = () => [
    isShared && advice && make('p', { class: 'faint' }, sentence(advice)),
    rows(kind.problems, found => problem(isShared ? { ...found, advice: '' } : found, hasRoots), { label: `problems ${kind.code}` }),
    left > 0 && make('p', { class: 'faint' }, `${counted(left, 'more problem')}: run `, literal('skillcell lint'), ' to see all.'),
  ].filter(Boolean);
  const details = make('details', { class: 'group', open: isOpen, ontoggle: () => fill() },
    make('summary', {},
      make('span', { class: 'row-head' },
        literal(kind.code),
        badge(kind.severity, kind.severity === 'error' ? 'bad' : 'warn'),
        make('span', { class: 'figure' }, kind.count.toLocaleString('en')),
      ),
      kind.summary && make('span', { class: 'faint' }, sentence(kind.summary)),
    ),
  );
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(...list());
  };
  fill();
  return details;
}

function problem(found, hasRoots) {
  const position = found.line ? `${found.file}:${found.line}` : found.file;
  return make('li', {},
    make('div', { class: 'row-head' }, literal(position || '.'), hasRoots && make('span', { class: 'faint' }, untrusted(found.root))),
    make('p', {}, sentence(found.message)),
    found.advice && make('p', { class: 'faint' }, sentence(found.advice)),
  );
}

/** The problems of one skill. */
export const problemsOf = list => list.length > 0 && make('ul', { class: 'rows problems' }, list.map(found => {
  const row = problem(found, false);
  row.firstChild.prepend(badge(found.severity, found.severity === 'error' ? 'bad' : 'warn'));
  return row;
}));
