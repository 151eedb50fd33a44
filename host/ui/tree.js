// The tree of skills. It is a single Tab stop; the arrow keys move inside it. Only expanded entries are in the DOM, and long
// lists grow on demand, so that ten thousand skills stay fast.

import { counted, make, plain, skillHref, untrusted } from './make.js';

/** Entries that are added below one parent at once. */
const PAGE_SIZE = 200;

/** A tree of at most this size is shown expanded. */
const MAX_EXPANDED = 80;

export class Tree {
  /** `onCount` is called with a text about how many skills are shown. */
  constructor(all, onCount) {
    this.onCount = onCount;
    this.open = new Set();
    this.picked = null;
    this.groups = 0;
    this.element = make('ul', {
      role: 'tree', class: 'tree', 'aria-label': 'Skills by inheritance',
      onkeydown: event => this.key(event),
      onclick: event => this.click(event),
    });
    this.load(all);
    if (this.nodes.length <= MAX_EXPANDED) this.nodes.forEach(node => this.open.add(node.path));
    else this.topNodes.filter(node => node.isRoot).forEach(node => this.open.add(node.path));
  }

  /** Shows another generation. Expanded entries stay expanded. */
  replace(all) {
    this.load(all);
    this.filter(this.words.join(' '));
  }

  load(all) {
    const roots = all.roots.filter(root => root.skills > 0).length;
    const ancestors = [];
    this.total = all.skills;
    this.byPath = new Map();
    this.nodes = all.nodes.map(plainNode => {
      const node = { ...plainNode, children: [], isRoot: roots > 1 && plainNode.depth === 0 };
      ancestors.length = Math.min(ancestors.length, node.depth);
      node.parent = ancestors.at(-1) ?? null;
      node.parent?.children.push(node);
      ancestors.push(node);
      if (!node.isRoot) this.byPath.set(node.path, node);
      return node;
    });
    this.topNodes = this.nodes.filter(node => node.parent === null);
    this.words ??= [];
  }

  filter(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.element.replaceChildren();
    if (this.words.length === 0) {
      this.add(this.element, this.topNodes, 1, 0);
      this.onCount(counted(this.total, 'skill'));
    } else {
      const matches = this.nodes.filter(node => !node.isRoot && this.matches(node));
      this.add(this.element, matches, 1, 0);
      this.onCount(matches.length === 0 ? 'No skill matches' : `${matches.length.toLocaleString('en')} of ${counted(this.total, 'skill')}`);
    }
    this.element.classList.toggle('flat', this.words.length > 0);
    this.mark();
  }

  matches(node) {
    node.searchText ??= [node.path, node.name, node.description, ...node.keywords].join('\n').toLowerCase();
    return this.words.every(word => node.searchText.includes(word));
  }

  /** Adds a page of entries to a list, and an entry that shows the next page. */
  add(list, nodes, level, from) {
    list.append(...nodes.slice(from, from + PAGE_SIZE).map(node => this.item(node, level)));
    const left = nodes.length - from - PAGE_SIZE;
    if (left <= 0) return;
    const label = `Show ${Math.min(left, PAGE_SIZE).toLocaleString('en')} more of ${left.toLocaleString('en')}`;
    const entry = make('span', { role: 'treeitem', class: 'entry more', 'aria-level': level, tabindex: -1 }, label);
    const more = make('li', { role: 'none' }, entry);
    entry.act = () => {
      more.remove();
      this.add(list, nodes, level, from + PAGE_SIZE);
      this.move(list.children[from + PAGE_SIZE].firstChild);
    };
    list.append(more);
  }

  /** Creates an entry. The link in it gets the focus; its children follow as a nested list. */
  item(node, level) {
    const isFlat = this.words.length > 0;
    const inside = [
      make('span', { class: 'twist', 'aria-hidden': 'true' }),
      make('span', { class: 'name' }, untrusted(isFlat ? node.path : node.name)),
      node.description && make('span', { class: 'note' }, ' ', untrusted(node.description)),
      node.scripts > 0 && make('span', { class: 'mark', title: counted(node.scripts, 'script'), 'aria-hidden': 'true' }, `${node.scripts}⚙︎`),
    ];
    const attributes = { role: 'treeitem', 'aria-level': level, tabindex: -1 };
    const entry = node.isRoot
      ? make('span', { ...attributes, class: 'entry root' }, inside)
      : make('a', { ...attributes, class: 'entry', href: skillHref(node.path), title: plain(`${node.path}\n${node.description}`) }, inside);
    entry.node = node;
    const item = make('li', { role: 'none' }, entry);
    if (node.children.length > 0 && !isFlat) {
      entry.setAttribute('aria-expanded', 'false');
      if (this.open.has(node.path)) this.expand(entry);
    }
    return item;
  }

  expand(entry) {
    if (entry.getAttribute('aria-expanded') !== 'false') return;
    const id = `below-${this.groups += 1}`;
    const group = make('ul', { role: 'group', id });
    this.open.add(entry.node.path);
    entry.setAttribute('aria-expanded', 'true');
    entry.setAttribute('aria-owns', id);
    this.add(group, entry.node.children, Number(entry.getAttribute('aria-level')) + 1, 0);
    entry.after(group);
  }

  collapse(entry) {
    if (entry.getAttribute('aria-expanded') !== 'true') return;
    this.open.delete(entry.node.path);
    entry.setAttribute('aria-expanded', 'false');
    entry.removeAttribute('aria-owns');
    entry.nextSibling.remove();
  }

  /** Marks the selected skill, and expands its parents. */
  pick(path) {
    if (this.picked === path) return this.mark();
    this.picked = path;
    const chain = [];
    for (let node = this.byPath.get(path)?.parent; node; node = node.parent) chain.unshift(node);
    if (this.words.length === 0) {
      for (const node of chain) {
        const entry = this.entries().find(entry => entry.node === node);
        if (entry) this.expand(entry);
        else this.open.add(node.path);
      }
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
      const isPicked = entry.node !== undefined && !entry.node.isRoot && entry.node.path === this.picked;
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
    if (entry.node.isRoot) return this.toggle(entry);
    this.expand(entry);
    location.hash = skillHref(entry.node.path);
  }

  toggle(entry) {
    if (entry.getAttribute('aria-expanded') === 'true') this.collapse(entry);
    else this.expand(entry);
  }
}
