// One skill: as a model gets it, as it is written, and what comes with it.

import { problem } from './catalog.js';
import { badge, counted, failure, literal, make, said, seen, skillLink, toSkill } from './make.js';
import { ask } from './server.js';

const TABS = [
  { key: '', title: 'For the model', show: asSeen },
  { key: 'file', title: 'As written', show: asWritten },
  { key: 'more', title: 'Files', show: belongings },
];

/** Shows a skill in a place, and returns the generation that it is from. */
export async function showSkill(visit, place, all, address) {
  let skill;
  try {
    skill = await ask('skill', { name: address });
  } catch (error) {
    if (!visit.isOver) place.replaceChildren(unknown(error));
    return 0;
  }
  if (visit.isOver) return 0;
  const chosen = TABS.find(tab => tab.key === (visit.parameters.get('show') ?? '')) ?? TABS[0];
  const tabs = TABS.map(tab => make('a', {
    href: toSkill(skill.address, tab.key && `?show=${tab.key}`), 'aria-current': tab === chosen && 'page',
  }, tab.title, tab.show === belongings && ` (${skill.scripts.length + skill.assets.length})`));
  const isAnother = place.dataset.skill !== skill.address;
  place.dataset.skill = skill.address;
  place.replaceChildren(make('article', { class: 'skill' },
    make('a', { class: 'back', href: '#/' }, '‹ All skills'),
    inheritance(skill),
    make('div', { class: 'row-head' },
      make('h1', { tabindex: -1 }, said(skill.shown_name)),
      badge(skill.model === 'tree' ? 'tree skill' : 'folder skill'),
    ),
    skill.description && make('p', { class: 'lead' }, said(skill.description)),
    facts(skill, all),
    problems(skill, all),
    make('nav', { class: 'tabs', 'aria-label': 'Parts of the skill' }, tabs),
    make('div', { class: 'part-of-skill' }, chosen.show(skill)),
  ));
  visit.title(skill.shown_name);
  if (isAnother) {
    visit.tell(`${skill.shown_name} is shown`);
    window.scrollTo(0, 0);
    // Where there is no room for both, the tree has made way.
    if (document.activeElement?.closest('.side')?.offsetParent === null) place.querySelector('h1').focus();
  }
  return skill.generation;
}

function unknown(error) {
  return make('article', { class: 'skill' },
    make('a', { class: 'back', href: '#/' }, '‹ All skills'),
    failure(error, make('h1', {}, 'This skill cannot be shown')),
  );
}

/** What it inherits from, the most general first, and itself. */
function inheritance(skill) {
  if (skill.chain.length < 2) return make('p', { class: 'faint' }, 'Inherits from nothing');
  const steps = skill.chain.map((step, at) => {
    const isItself = at === skill.chain.length - 1;
    const name = step.address ?? step.file;
    if (isItself) return make('li', { 'aria-current': 'page' }, said(name));
    return make('li', {}, step.address ? skillLink(step.address) : said(name));
  });
  return make('nav', { class: 'inheritance', 'aria-label': 'Inheritance' }, make('span', { class: 'faint' }, 'Inherits from'), make('ol', {}, steps));
}

function facts(skill, all) {
  const node = all.nodes.find(node => node.path === skill.address);
  const keywords = node?.keywords ?? [];
  const pairs = [
    ['file', literal(skill.path)],
    all.roots.length > 1 && ['root', said(skill.root)],
    ['resource', literal(skill.uri)],
    keywords.length > 0 && ['keywords', make('span', { class: 'chips' }, keywords.map(word => said(word, { class: 'chip' })))],
  ];
  return make('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

function problems(skill, all) {
  const own = all.problems.filter(found => found.root === skill.root && found.file === skill.file);
  return own.length > 0 && make('ul', { class: 'rows problems' }, own.map(problem));
}

const size = text => `${counted([...text].length, 'character')}, ${counted(text.split('\n').length, 'line')}`;

const block = text => make('pre', { class: 'text' }, markdown(text));

/** The text as it is, with its headings easy to find. */
function markdown(text) {
  let fence = null;
  return text.split('\n').map((line, at) => {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (marks && fence === null) fence = marks;
    else if (marks?.startsWith(fence)) fence = null;
    const isHeading = fence === null && /^#{1,6} /.test(line);
    return [at > 0 && '\n', isHeading ? make('b', {}, seen(line)) : seen(line)];
  });
}

/** The answer of `get_skill`. Each part of it begins with a line that says where it is from. */
function asSeen(skill) {
  const parts = inParts(skill.content, skill.chain.map(step => step.file));
  const shown = parts.map(({ header, text }) => header === null
    ? block(text)
    : make('details', { class: 'part', open: true }, make('summary', {}, said(header)), block(text)));
  return [make('p', { class: 'faint' }, `What get_skill answers: ${size(skill.content)}`), shown];
}

/** Cuts where the next file of the chain begins. A line that only looks like a header stays where it is. */
function inParts(content, files) {
  const parts = [{ header: null, lines: [] }];
  let next = 0;
  for (const line of content.split('\n')) {
    const file = files.slice(next).findIndex(file => line.startsWith('=== ') && line.endsWith(` (from ${file}) ===`));
    if (file >= 0) {
      next += file + 1;
      parts.push({ header: line, lines: [] });
    } else {
      parts.at(-1).lines.push(line);
    }
  }
  const made = parts.map(({ header, lines }) => ({ header, text: lines.join('\n').replace(/^\n+|\n+$/g, '') }));
  return made.filter(({ header, text }) => header !== null || text !== '');
}

function asWritten(skill) {
  return [make('p', { class: 'faint' }, `The file, front matter and all: ${size(skill.text)}`), block(skill.text)];
}

function belongings(skill) {
  return [
    make('h2', {}, 'Scripts'),
    skill.scripts.length === 0 ? make('p', { class: 'faint' }, 'It has none.') : make('ul', { class: 'rows' }, skill.scripts.map(entry => script(entry, skill.grant))),
    make('h2', {}, 'Assets'),
    skill.assets.length === 0 ? make('p', { class: 'faint' }, 'It declares none.') : make('ul', { class: 'rows' }, skill.assets.map(asset)),
  ];
}

const from = entry => entry.from && make('span', { class: 'faint' }, 'inherited from ', skillLink(entry.from));

function asset(entry) {
  return make('li', {},
    make('div', { class: 'row-head' }, literal(entry.file), badge(said(entry.type)), from(entry)),
    entry.description && make('p', {}, said(entry.description)),
  );
}

function script(entry, grant) {
  const byWhom = entry.execution === 'server' ? badge('runs in the sandbox', 'good') : badge('for the agent to run');
  return make('li', {},
    make('div', { class: 'row-head' }, literal(entry.file), byWhom, from(entry)),
    entry.description && make('p', {}, said(entry.description)),
    entry.args.length > 0 && make('dl', { class: 'arguments' }, entry.args.map(argument => make('div', {},
      make('dt', {}, literal(argument.name), argument.required && badge('required')),
      make('dd', {}, said(argument.description)),
    ))),
    needs(entry, grant),
  );
}

/** What a script asks of the operator, and what the operator granted its skill. */
function needs(entry, grant) {
  const asked = Object.entries(entry.needs ?? {}).filter(([, list]) => list.length > 0);
  if (asked.length === 0) return null;
  const chips = asked.map(([kind, list]) => make('div', {}, make('dt', {}, kind), make('dd', { class: 'chips' }, list.map(one => said(one, { class: 'chip' })))));
  const told = grant ? ['A grant for this skill is in the operator’s file: ', make('a', { href: '#/grants' }, 'see grants'), '.'] : ['No grant covers this skill, so it gets none of it.'];
  return make('div', { class: 'needs' }, make('p', { class: 'faint' }, 'It needs'), make('dl', { class: 'facts' }, chips), make('p', { class: 'faint' }, told));
}
