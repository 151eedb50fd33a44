// The catalog: the tree of skills, and beside it the selected skill or what there is to know about all of them.

import { rows } from './list.js';
import { badge, counted, empty, literal, make, untrusted } from './make.js';
import { problems } from './problems.js';
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
  if (picked === null) return showOverview(visit, pane, all);
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
  const scripts = make('span');
  const withScripts = make('label', { class: 'choice' },
    make('input', { type: 'checkbox', onchange: event => tree.filterScripts(event.target.checked) }), ' Only with scripts', scripts);
  const side = make('section', { class: 'side', 'aria-label': 'Skills' },
    make('div', { class: 'finder' }, make('label', { for: 'filter' }, 'Filter skills'), filter, count, withScripts),
    tree.element,
  );
  visit.main.replaceChildren(make('div', { class: 'catalog' }, side, make('div', { class: 'pane' })));
  tree.show();
  countScripts(tree, scripts);
}

/** Counting looks into every folder, so the tree is shown before. */
async function countScripts(tree, note) {
  tree.element.setAttribute('aria-busy', 'true');
  const counts = new Map(Object.entries(await fetchJson('scripts').catch(() => ({}))));
  tree.countScripts(counts);
  tree.element.removeAttribute('aria-busy');
  note.textContent = ` (${counts.size.toLocaleString('en')})`;
}

/** Shown while no skill is selected. */
async function showOverview(visit, pane, all) {
  const found = await fetchJson('problems');
  if (visit.isStale) return;
  delete pane.dataset.skill;
  pane.replaceChildren(make('article', { class: 'overview' },
    make('h1', {}, 'Catalog'),
    all.skills > 0 && make('p', { class: 'lead' }, 'Select a skill to see it as a model does, with everything it inherits.'),
    all.skills === 0 && found.hidden.length === 0 && nothing(),
    hidden(found.hidden),
    roots(all),
    problems(found, all.roots.length > 1),
    make('p', { class: 'faint' }, `skillcell ${all.version}, generation ${all.generation} of the catalog`),
  ));
}

const nothing = () => empty('No skills yet',
  make('p', {}, 'Put a ', literal('SKILL.md'), ' into a folder of its own below a root, then reload this page:'),
  make('pre', { class: 'text' }, '---\nname: my-skill\ndescription: What it does, and when to use it\n---\n\nThe instructions.\n'),
);

/** Skills that are not served because their folders are hidden. */
function hidden(folders) {
  if (folders.length === 0) return null;
  const skills = folders.reduce((sum, folder) => sum + folder.skills, 0);
  const row = ({ folder, skills }) => make('li', {}, make('div', { class: 'row-head' }, literal(folder), make('span', { class: 'figure' }, counted(skills, 'skill'))));
  return make('section', { class: 'hidden-skills' },
    make('h2', {}, `${counted(skills, 'skill')} not served`),
    make('p', { class: 'faint' }, 'Hidden folders are skipped. To serve these, name their folders as roots:'),
    rows(folders, row, { label: 'hidden folders', size: 10 }),
  );
}

function roots(all) {
  const states = { there: '', missing: 'does not exist', unreadable: 'cannot be read' };
  const row = root => make('li', {},
    make('div', { class: 'row-head' },
      make('strong', {}, untrusted(root.label)),
      badge(root.kind),
      root.state !== 'there' && badge(states[root.state], 'warn'),
      make('span', { class: 'figure' }, counted(root.skills, 'skill')),
    ),
    literal(root.path, { class: 'faint' }),
  );
  return make('section', {}, make('h2', {}, counted(all.roots.length, 'root')), rows(all.roots, row, { label: 'roots', size: 10 }));
}
