// One skill: as a model gets it, as it is written, and its files.

import { countOf, files } from './files.js';
import { badge, counted, failure, literal, make, revealed, skillHref, skillLink, untrusted } from './make.js';
import { problemsOf } from './problems.js';
import { fetchJson } from './server.js';

/** A text of more rows than this is shown only up to `HEAD_ROWS`. */
const MAX_ROWS = 400;
const HEAD_ROWS = 300;
const ROW_LENGTH = 100;

const TABS = [
  { key: '', title: 'For the model', show: forModel },
  { key: 'file', title: 'As written', show: asWritten },
  { key: 'more', title: 'Files', show: files },
];

/** Shows a skill in an element, and returns its generation. */
export async function showSkill(visit, pane, all, address) {
  let skill;
  try {
    skill = await fetchJson('skill', { name: address });
  } catch (error) {
    if (!visit.isStale) pane.replaceChildren(unknown(error));
    return 0;
  }
  if (visit.isStale) return 0;
  const chosen = TABS.find(tab => tab.key === (visit.parameters.get('show') ?? '')) ?? TABS[0];
  const tabs = TABS.map(tab => make('a', {
    href: skillHref(skill.address, tab.key && `?show=${tab.key}`), 'aria-current': tab === chosen && 'page',
  }, tab.title, tab.show === files && ` (${countOf(skill).toLocaleString('en')})`));
  const isAnother = pane.dataset.skill !== skill.address;
  pane.dataset.skill = skill.address;
  pane.replaceChildren(make('article', { class: 'skill' },
    make('a', { class: 'back', href: '#/' }, '‹ All skills'),
    inheritance(skill),
    make('div', { class: 'row-head' },
      make('h1', { tabindex: -1 }, untrusted(skill.display_name)),
      badge(skill.model === 'tree' ? 'tree skill' : 'folder skill'),
    ),
    skill.description && make('p', { class: 'lead' }, untrusted(skill.description)),
    facts(skill, all),
    problemsOf(skill.problems),
    make('nav', { class: 'tabs', 'aria-label': 'Parts of the skill' }, tabs),
    make('div', { class: 'part-of-skill' }, chosen.show(skill)),
  ));
  visit.title(skill.display_name);
  if (isAnother) {
    visit.announce(`${skill.display_name} is shown`);
    window.scrollTo(0, 0);
    // On narrow screens the tree is hidden, and the focus with it.
    if (document.activeElement?.closest('.side')?.offsetParent === null) pane.querySelector('h1').focus();
  }
  return skill.generation;
}

function unknown(error) {
  return make('article', { class: 'skill' },
    make('a', { class: 'back', href: '#/' }, '‹ All skills'),
    failure(error, make('h1', {}, 'This skill cannot be shown')),
  );
}

/** The skills that it inherits from, most general first, and itself. */
function inheritance(skill) {
  if (skill.chain.length < 2) return make('p', { class: 'faint' }, 'Inherits from nothing');
  const steps = skill.chain.map((step, at) => {
    const isItself = at === skill.chain.length - 1;
    const name = step.address ?? step.file;
    if (isItself) return make('li', { 'aria-current': 'page' }, untrusted(name));
    return make('li', {}, step.address ? skillLink(step.address) : untrusted(name));
  });
  return make('nav', { class: 'inheritance', 'aria-label': 'Inheritance' }, make('span', { class: 'faint' }, 'Inherits from'), make('ol', {}, steps));
}

function facts(skill, all) {
  const node = all.nodes.find(node => node.path === skill.address);
  const keywords = node?.keywords ?? [];
  const pairs = [
    ['file', literal(skill.path)],
    all.roots.length > 1 && ['root', untrusted(skill.root)],
    ['resource', literal(skill.uri)],
    keywords.length > 0 && ['keywords', make('span', { class: 'chips' }, keywords.map(word => untrusted(word, { class: 'chip' })))],
  ];
  return make('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

const size = text => `${counted([...text].length, 'character')}, ${counted(text.split('\n').length, 'line')}`;

/** A text, of which a long one is shown as a whole only on demand. */
function block(text) {
  const head = headOf(text);
  const shown = make('pre', { class: 'text', tabindex: -1 }, markdown(head));
  if (head.length === text.length) return shown;
  const more = make('button', {
    type: 'button', class: 'quiet whole',
    onclick: () => {
      shown.replaceChildren(...markdown(text).flat(Infinity).filter(Boolean));
      more.remove();
      shown.focus({ preventScroll: true });
    },
  }, `Show the rest: ${size(text.slice(head.length))}`);
  return [shown, more];
}

/** The first lines of a text that has many more, counting long ones as several. */
function headOf(text) {
  let [rows, end, head] = [0, 0, null];
  for (const line of text.split('\n')) {
    rows += 1 + Math.floor(line.length / ROW_LENGTH);
    if (rows > HEAD_ROWS) head ??= end || HEAD_ROWS * ROW_LENGTH;
    if (rows > MAX_ROWS) return text.slice(0, head);
    end += line.length + 1;
  }
  return text;
}

/** The unchanged text, with its headings in bold. */
function markdown(text) {
  let fence = null;
  return text.split('\n').map((line, at) => {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (marks && fence === null) fence = marks;
    else if (marks?.startsWith(fence)) fence = null;
    const isHeading = fence === null && /^#{1,6} /.test(line);
    return [at > 0 && '\n', isHeading ? make('b', {}, revealed(line)) : revealed(line)];
  });
}

/** The answer of `get_skill`, split at the header of each file. */
function forModel(skill) {
  const parts = splitParts(skill.content, skill.chain.map(step => step.file));
  const shown = parts.map(({ header, text }) => header === null
    ? block(text)
    : make('details', { class: 'part', open: true }, make('summary', {}, untrusted(header)), block(text)));
  return [make('p', { class: 'faint' }, `The answer of get_skill: ${size(skill.content)}`), shown];
}

/** Splits where the next file of the chain begins. A line that only looks like a header is not a boundary. */
function splitParts(content, sources) {
  const parts = [{ header: null, lines: [] }];
  let next = 0;
  for (const line of content.split('\n')) {
    const file = sources.slice(next).findIndex(file => line.startsWith('=== ') && line.endsWith(` (from ${file}) ===`));
    if (file >= 0) {
      next += file + 1;
      parts.push({ header: line, lines: [] });
    } else {
      parts.at(-1).lines.push(line);
    }
  }
  const trimmed = parts.map(({ header, lines }) => ({ header, text: lines.join('\n').replace(/^\n+|\n+$/g, '') }));
  return trimmed.filter(({ header, text }) => header !== null || text !== '');
}

function asWritten(skill) {
  return [make('p', { class: 'faint' }, `The file with its front matter: ${size(skill.text)}`), block(skill.text)];
}
