// The catalog: the tree of skills beside what was picked from it.

import { badge, counted, empty, literal, make, plain, said, sentence } from './make.js';
import { ask } from './server.js';
import { showSkill } from './skill.js';
import { Tree } from './tree.js';

/** The newest catalog that is known, and the tree made of it. */
let known = null;
let tree = null;

/** Brings the catalog, if it is not known or a newer one was heard of. */
export async function catalog(generation = 0) {
  if (!known || known.generation < generation) known = await ask('catalog');
  return known;
}

export async function showCatalog(visit) {
  const isNew = !visit.main.querySelector('.catalog');
  if (isNew) known = null;
  const all = await catalog();
  if (visit.isOver) return;
  if (isNew) lay(visit, all);
  const pane = visit.main.querySelector('.pane');
  const picked = visit.name === 'skill' ? visit.rest : null;
  visit.main.querySelector('.catalog').classList.toggle('has-pick', picked !== null);
  tree.pick(picked);
  if (picked === null) return pane.replaceChildren(overview(all));
  const generation = await showSkill(visit, pane, all, picked);
  if (!visit.isOver && generation > all.generation) {
    const newer = await catalog(generation);
    if (!visit.isOver) tree.replace(newer);
  }
}

function lay(visit, all) {
  const count = make('p', { class: 'count', role: 'status' });
  tree = new Tree(all, text => {
    count.textContent = text;
  });
  const filter = make('input', {
    type: 'search', id: 'filter', placeholder: 'Name, description or keyword', autocomplete: 'off', spellcheck: 'false',
    oninput: event => tree.filter(event.target.value),
    onkeydown: event => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        tree.focus();
      }
    },
  });
  const side = make('section', { class: 'side', 'aria-label': 'Skills' },
    make('div', { class: 'finder' }, make('label', { for: 'filter' }, 'Filter skills'), filter, count),
    tree.element,
  );
  visit.main.replaceChildren(make('div', { class: 'catalog' }, side, make('div', { class: 'pane' })));
  tree.filter('');
}

/** What is there when no skill was picked. */
function overview(all) {
  if (all.skills === 0) return nothing(all);
  return make('article', { class: 'overview' },
    make('h1', {}, 'Catalog'),
    make('p', { class: 'lead' }, 'Pick a skill to see it as a model does, with everything it inherits.'),
    roots(all),
    problems(all),
    make('p', { class: 'faint' }, `skillcell ${all.version}, generation ${all.generation} of the catalog`),
  );
}

function nothing(all) {
  return make('article', { class: 'overview' },
    make('h1', {}, 'Catalog'),
    empty('No skills yet',
      make('p', {}, 'Put a ', literal('SKILL.md'), ' into a folder of its own below a root, then load this page again:'),
      make('pre', { class: 'text' }, '---\nname: my-skill\ndescription: What it does, and when to use it\n---\n\nThe instructions.\n'),
    ),
    roots(all),
    problems(all),
  );
}

function roots(all) {
  const states = { there: '', missing: 'not there', unreadable: 'cannot be read' };
  const rows = all.roots.map(root => make('li', {},
    make('div', { class: 'row-head' },
      make('strong', {}, said(root.label)),
      badge(root.kind),
      root.state !== 'there' && badge(states[root.state], 'warn'),
      make('span', { class: 'figure' }, counted(root.skills, 'skill')),
    ),
    literal(root.path, { class: 'faint' }),
  ));
  return make('section', {}, make('h2', {}, counted(all.roots.length, 'root')), make('ul', { class: 'rows' }, rows));
}

function problems(all) {
  const { problems, problems_left_out: more } = all;
  const total = problems.length + more;
  if (total === 0) {
    return make('section', {}, make('h2', {}, 'Problems'), make('p', { class: 'good-news' }, 'None: every file is understood.'));
  }
  const rest = more > 0 && make('p', { class: 'faint' }, `${counted(more, 'more problem')}: run `, literal('skillcell lint'), ' to see all.');
  return make('section', {},
    make('h2', {}, counted(total, 'problem')),
    make('ul', { class: 'rows' }, problems.map(problem)),
    rest,
  );
}

export function problem(found) {
  const place = found.line ? `${found.file}:${found.line}` : found.file;
  return make('li', {},
    make('div', { class: 'row-head' },
      badge(found.severity, found.severity === 'error' ? 'bad' : 'warn'),
      literal(place || '.'),
      make('span', { class: 'faint', title: plain(found.code) }, said(found.root)),
    ),
    make('p', {}, sentence(found.message)),
    found.advice && make('p', { class: 'faint' }, sentence(found.advice)),
  );
}
