// The tree of skills. It is a single Tab stop; the arrow keys move inside it. Only expanded entries are in the DOM, and of a
// long list only a part, which grows on demand, so that ten thousand skills stay fast.

import { treeOf } from './folders.js';
import { counted, make, placeOf, plain, skillHref, untrusted } from './make.js';

/** Entries that are added below one parent at once. */
const PAGE_SIZE = 200;

/** Levels are expanded at first as long as no more entries than this are shown. */
const MAX_EXPANDED = 80;

export class Tree {
  /** `onCount` is called with a text about how many skills are shown. */
  constructor(all, onCount) {
    this.onCount = onCount;
    this.open = new Set();
    this.words = [];
    this.scripts = new Map();
    this.onlyScripts = false;
    this.picked = null;
    this.groups = 0;
    this.element = make('ul', {
      role: 'tree', class: 'tree', 'aria-label': 'Skills by folder and inheritance',
      onkeydown: event => this.key(event),
      onclick: event => this.click(event),
    });
    this.load(all);
    this.openFirstLevels();
  }

  /** Shows another generation. Expanded entries stay expanded. */
  replace(all) {
    this.load(all);
    this.show();
  }

  load(all) {
    this.total = all.skills;
    this.nodes = treeOf(all);
    this.topNodes = this.nodes.filter(node => node.parent === null);
    this.byPath = new Map(this.nodes.filter(node => node.isSkill).map(node => [node.path, node]));
    this.applyScripts();
  }

  openFirstLevels() {
    let shown = this.topNodes.length;
    for (let level = this.topNodes; level.length > 0; level = level.flatMap(node => node.children)) {
      shown += level.reduce((sum, node) => sum + node.children.length, 0);
      if (shown > MAX_EXPANDED && level.length > 1) return;
      level.forEach(node => this.open.add(node.key));
    }
  }

  /** Shows the skills that contain all words, or all skills if there are none. */
  filter(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.show();
  }

  /** Shows only skills with scripts, or all. */
  filterScripts(onlyScripts) {
    this.onlyScripts = onlyScripts;
    this.show();
  }

  /** Whether a part of the skills is shown as a list. */
  get isFlat() {
    return this.words.length > 0 || this.onlyScripts;
  }

  show() {
    this.element.replaceChildren();
    if (!this.isFlat) {
      this.add(this.element, this.topNodes, 1);
      this.onCount(counted(this.total, 'skill'));
    } else {
      const matches = this.nodes.filter(node => node.isSkill && this.matches(node));
      this.add(this.element, matches, 1);
      this.onCount(matches.length === 0 ? 'No skill matches' : `${matches.length.toLocaleString('en')} of ${counted(this.total, 'skill')}`);
    }
    this.element.classList.toggle('flat', this.isFlat);
    this.mark();
  }

  matches(node) {
    node.searchText ??= [node.path, node.name, node.description, ...node.keywords].join('\n').toLowerCase();
    return (!this.onlyScripts || node.scripts > 0) && this.words.every(word => node.searchText.includes(word));
  }

  applyScripts() {
    for (const [path, node] of this.byPath) node.scripts = this.scripts.get(path) ?? 0;
  }

  /** Adds how many scripts each skill has, by its path. */
  countScripts(counts) {
    this.scripts = counts;
    this.applyScripts();
    for (const entry of this.entries()) entry.querySelector('.title')?.append(...scriptMark(entry.node));
  }

  /** Fills a list with a page of entries: the first, or the one that leads to the selected skill. */
  add(list, nodes, level) {
    const at = this.isFlat ? 0 : nodes.findIndex(node => this.isAbovePicked(node));
    const from = Math.max(0, Math.floor(at / PAGE_SIZE) * PAGE_SIZE);
    list.append(...this.items(nodes, level, from));
    this.addMore(list, nodes, level, from - PAGE_SIZE, -1);
    this.addMore(list, nodes, level, from + PAGE_SIZE, 1);
  }

  /** Whether an entry is the selected skill or one above it. */
  isAbovePicked(node) {
    let above = this.byPath.get(this.picked);
    while (above && above !== node) above = above.parent;
    return above !== undefined && above !== null;
  }

  items(nodes, level, from) {
    return nodes.slice(from, from + PAGE_SIZE).map((node, at) => this.item(node, level, from + at + 1, nodes.length));
  }

  /** Adds an entry that is replaced by the page of entries at `from`, before (-1) or after (1) the others. */
  addMore(list, nodes, level, from, direction) {
    if (from < 0 || from >= nodes.length) return;
    const left = direction < 0 ? from + PAGE_SIZE : nodes.length - from;
    const [size, all] = [Math.min(left, PAGE_SIZE), left].map(number => number.toLocaleString('en'));
    const label = `Show ${size} of ${all} ${direction < 0 ? 'before' : 'more'}`;
    const entry = make('span', { role: 'treeitem', class: 'entry more', 'aria-level': level, tabindex: -1 }, label);
    entry.style.setProperty('--level', level - 1);
    const item = make('li', { role: 'none' }, entry);
    entry.act = () => {
      const items = this.items(nodes, level, from);
      item.replaceWith(...items);
      this.addMore(list, nodes, level, from + direction * PAGE_SIZE, direction);
      this.move(items.at(direction < 0 ? -1 : 0).firstChild);
    };
    if (direction < 0) list.prepend(item);
    else list.append(item);
  }

  /** Creates an entry. The link in it gets the focus; its children follow as a nested list. */
  item(node, level, position, siblings) {
    const above = this.isFlat && node.isSkill ? placeOf(node.path).folder : node.above;
    const title = make('span', { class: 'title' },
      make('span', { class: 'name' }, untrusted(node.name)),
      !node.isSkill && make('span', { class: 'mark' }, ` ${node.skills.toLocaleString('en')}`, make('span', { class: 'unseen' }, node.skills === 1 ? ' skill' : ' skills')),
      scriptMark(node),
    );
    const note = (above !== '' || node.description !== '') && make('span', { class: 'note' },
      above !== '' && untrusted(above, { class: 'above' }), above !== '' && ' ', untrusted(node.description),
    );
    const inside = [make('span', { class: 'twist', 'aria-hidden': 'true' }), make('span', { class: 'words' }, title, ' ', note)];
    const attributes = { role: 'treeitem', 'aria-level': level, 'aria-posinset': position, 'aria-setsize': siblings, tabindex: -1 };
    const entry = node.isSkill
      ? make('a', { ...attributes, class: 'entry', href: skillHref(node.path), title: plain(`${node.path}\n${node.description}`) }, inside)
      : make('span', { ...attributes, class: `entry ${node.isRoot ? 'root' : 'folder'}`, title: plain(node.path) }, inside);
    entry.style.setProperty('--level', level - 1);
    entry.node = node;
    const item = make('li', { role: 'none' }, entry);
    if (node.children.length > 0 && !this.isFlat) {
      entry.setAttribute('aria-expanded', 'false');
      if (this.open.has(node.key)) this.expand(entry);
    }
    return item;
  }

  expand(entry) {
    if (entry.getAttribute('aria-expanded') !== 'false') return;
    const id = `below-${this.groups += 1}`;
    const group = make('ul', { role: 'group', id });
    this.open.add(entry.node.key);
    entry.setAttribute('aria-expanded', 'true');
    entry.setAttribute('aria-owns', id);
    this.add(group, entry.node.children, Number(entry.getAttribute('aria-level')) + 1);
    entry.after(group);
  }

  collapse(entry) {
    if (entry.getAttribute('aria-expanded') !== 'true') return;
    this.open.delete(entry.node.key);
    entry.setAttribute('aria-expanded', 'false');
    entry.removeAttribute('aria-owns');
    entry.nextSibling.remove();
  }

  /** Marks the selected skill, and expands what is above it. */
  pick(path) {
    if (this.picked === path) return this.mark();
    this.picked = path;
    const isShown = () => this.entries().some(entry => entry.node?.isSkill && entry.node.path === path);
    if (!this.isFlat && !isShown()) {
      for (let node = this.byPath.get(path)?.parent; node; node = node.parent) this.open.add(node.key);
      if (this.byPath.has(path)) this.show();
    }
    this.mark();
    // `scrollIntoView` would scroll the rest of the page, too.
    const entry = this.element.querySelector('[aria-selected=true]');
    const side = this.element.closest('.side');
    if (entry && side) {
      const top = entry.getBoundingClientRect().top - side.getBoundingClientRect().top;
      if (top < 0 || top > side.clientHeight - entry.offsetHeight) side.scrollTop += top - side.clientHeight / 3;
    }
  }
  mark() {
    const entries = this.entries();
    for (const entry of entries) {
      const isPicked = entry.node?.isSkill === true && entry.node.path === this.picked;
      entry.setAttribute('aria-selected', String(isPicked));
      entry.tabIndex = -1;
    }
    const first = entries.find(entry => entry.getAttribute('aria-selected') === 'true') ?? entries[0];
    if (first) first.tabIndex = 0;
  }

  entries() {
    return [...this.element.querySelectorAll('[role=treeitem]')];
  }

  focus() {
    this.element.querySelector('[tabindex="0"]')?.focus();
  }

  /** Moves the focus. The focused entry becomes the Tab stop. */
  move(entry) {
    if (!entry) return;
    for (const other of this.element.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    entry.tabIndex = 0;
    entry.focus();
  }

  key(event) {
    const entry = event.target.closest('[role=treeitem]');
    if (!entry || event.ctrlKey || event.altKey || event.metaKey) return;
    const entries = this.entries();
    const at = entries.indexOf(entry);
    const state = entry.getAttribute('aria-expanded');
    const parent = entry.closest('[role=group]')?.previousSibling;
    const actions = {
      ArrowDown: () => this.move(entries[at + 1]),
      ArrowUp: () => this.move(entries[at - 1]),
      Home: () => this.move(entries[0]),
      End: () => this.move(entries.at(-1)),
      ArrowRight: () => (state === 'false' ? this.expand(entry) : state === 'true' && this.move(entries[at + 1])),
      ArrowLeft: () => (state === 'true' ? this.collapse(entry) : this.move(parent)),
      Enter: () => this.choose(entry),
      ' ': () => this.choose(entry),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  click(event) {
    const entry = event.target.closest('[role=treeitem]');
    // With a modifier key, the browser opens the link in another tab or window.
    if (!entry || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.move(entry);
    if (event.target.closest('.twist') && entry.hasAttribute('aria-expanded')) this.toggle(entry);
    else this.choose(entry);
  }

  choose(entry) {
    if (entry.act) return entry.act();
    if (!entry.node.isSkill) return this.toggle(entry);
    this.expand(entry);
    location.hash = skillHref(entry.node.path);
  }

  toggle(entry) {
    if (entry.getAttribute('aria-expanded') === 'true') this.collapse(entry);
    else this.expand(entry);
  }
}

const scriptMark = ({ scripts }) => (scripts > 0
  ? [make('span', { class: 'mark', title: counted(scripts, 'script') }, make('span', { 'aria-hidden': 'true' }, ` ${scripts}⚙︎`), make('span', { class: 'unseen' }, `, ${counted(scripts, 'script')}`))]
  : []);
