// The catalog: the tree of skills, and the selected skill beside it.

import { badge, counted, empty, literal, make, plain, sentence, untrusted } from './make.js';
import { fetchJson } from './server.js';
import { showSkill } from './skill.js';
import { Tree } from './tree.js';

/** The last catalog that was loaded, and its tree. */
let cached = null;
let tree = null;

/** Returns the catalog. Loads it if none is cached, or if the cached one is older than `generation`. */
export async function catalog(generation = 0) {
  if (!cached || cached.generation < generation) cached = await fetchJson('catalog');
  return cached;
}

export async function showCatalog(visit) {
  const isNew = !visit.main.querySelector('.catalog');
  if (isNew) cached = null;
  const all = await catalog();
  if (visit.isStale) return;
  if (isNew) buildLayout(visit, all);
  const pane = visit.main.querySelector('.pane');
  const picked = visit.name === 'skill' ? visit.rest : null;
  visit.main.querySelector('.catalog').classList.toggle('has-pick', picked !== null);
  tree.pick(picked);
  if (picked === null) return pane.replaceChildren(overview(all));
  const generation = await showSkill(visit, pane, all, picked);
  if (!visit.isStale && generation > all.generation) {
    const newer = await catalog(generation);
    if (!visit.isStale) tree.replace(newer);
  }
}

function buildLayout(visit, all) {
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

/** Shown while no skill is selected. */
function overview(all) {
  if (all.skills === 0) return nothing(all);
  return make('article', { class: 'overview' },
    make('h1', {}, 'Catalog'),
    make('p', { class: 'lead' }, 'Select a skill to see it as a model does, with everything it inherits.'),
    roots(all),
    problems(all),
    make('p', { class: 'faint' }, `skillcell ${all.version}, generation ${all.generation} of the catalog`),
  );
}

function nothing(all) {
  return make('article', { class: 'overview' },
    make('h1', {}, 'Catalog'),
    empty('No skills yet',
      make('p', {}, 'Put a ', literal('SKILL.md'), ' into a folder of its own below a root, then reload this page:'),
      make('pre', { class: 'text' }, '---\nname: my-skill\ndescription: What it does, and when to use it\n---\n\nThe instructions.\n'),
    ),
    roots(all),
    problems(all),
  );
}

function roots(all) {
  const states = { there: '', missing: 'does not exist', unreadable: 'cannot be read' };
  const rows = all.roots.map(root => make('li', {},
    make('div', { class: 'row-head' },
      make('strong', {}, untrusted(root.label)),
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
    return make('section', {}, make('h2', {}, 'Problems'), make('p', { class: 'good-news' }, 'None: every file is valid.'));
  }
  const note = more > 0 && make('p', { class: 'faint' }, `${counted(more, 'more problem')}: run `, literal('skillcell lint'), ' to see all.');
  return make('section', {},
    make('h2', {}, counted(total, 'problem')),
    make('ul', { class: 'rows' }, problems.map(problem)),
    note,
  );
}

export function problem(found) {
  const position = found.line ? `${found.file}:${found.line}` : found.file;
  return make('li', {},
    make('div', { class: 'row-head' },
      badge(found.severity, found.severity === 'error' ? 'bad' : 'warn'),
      literal(position || '.'),
      make('span', { class: 'faint', title: plain(found.code) }, untrusted(found.root)),
    ),
    make('p', {}, sentence(found.message)),
    found.advice && make('p', { class: 'faint' }, sentence(found.advice)),
  );
}
