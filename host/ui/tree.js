// The tree of skills. It is one stop of the Tab key; the arrow keys move inside it. Only what is open is in the page, and long
// lists grow on demand, so that ten thousand skills are no burden.

import { counted, make, plain, said, toSkill } from './make.js';

/** Most entries that are added below one parent at once. */
const AT_ONCE = 200;

/** A tree that is no larger is shown open. */
const SMALL = 80;

export class Tree {
  /** `told` hears how many skills are shown. */
  constructor(all, told) {
    this.told = told;
    this.open = new Set();
    this.picked = null;
    this.groups = 0;
    this.element = make('ul', {
      role: 'tree', class: 'tree', 'aria-label': 'Skills by inheritance',
      onkeydown: event => this.key(event),
      onclick: event => this.click(event),
    });
    this.take(all);
    if (this.nodes.length <= SMALL) this.nodes.forEach(node => this.open.add(node.path));
    else this.tops.filter(node => node.isRoot).forEach(node => this.open.add(node.path));
  }

  /** Another generation. What was open stays open. */
  replace(all) {
    this.take(all);
    this.filter(this.words.join(' '));
  }

  take(all) {
    const roots = all.roots.filter(root => root.skills > 0).length;
    const above = [];
    this.total = all.skills;
    this.byPath = new Map();
    this.nodes = all.nodes.map(plainNode => {
      const node = { ...plainNode, children: [], isRoot: roots > 1 && plainNode.depth === 0 };
      above.length = Math.min(above.length, node.depth);
      node.above = above.at(-1) ?? null;
      node.above?.children.push(node);
      above.push(node);
      if (!node.isRoot) this.byPath.set(node.path, node);
      return node;
    });
    this.tops = this.nodes.filter(node => node.above === null);
    this.words ??= [];
  }

  filter(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.element.replaceChildren();
    if (this.words.length === 0) {
      this.add(this.element, this.tops, 1, 0);
      this.told(counted(this.total, 'skill'));
    } else {
      const found = this.nodes.filter(node => !node.isRoot && this.matches(node));
      this.add(this.element, found, 1, 0);
      this.told(found.length === 0 ? 'No skill has these words' : `${found.length.toLocaleString('en')} of ${counted(this.total, 'skill')}`);
    }
    this.element.classList.toggle('flat', this.words.length > 0);
    this.mark();
  }

  matches(node) {
    node.searched ??= [node.path, node.name, node.description, ...node.keywords].join('\n').toLowerCase();
    return this.words.every(word => node.searched.includes(word));
  }

  /** Adds entries to a list, from one place on, and a way to see more. */
  add(list, nodes, level, from) {
    list.append(...nodes.slice(from, from + AT_ONCE).map(node => this.item(node, level)));
    const left = nodes.length - from - AT_ONCE;
    if (left <= 0) return;
    const label = `Show ${Math.min(left, AT_ONCE).toLocaleString('en')} more of ${left.toLocaleString('en')}`;
    const entry = make('span', { role: 'treeitem', class: 'entry more', 'aria-level': level, tabindex: -1 }, label);
    const more = make('li', { role: 'none' }, entry);
    entry.act = () => {
      more.remove();
      this.add(list, nodes, level, from + AT_ONCE);
      this.move(list.children[from + AT_ONCE].firstChild);
    };
    list.append(more);
  }

  /** An entry of the list. The link in it is what the keys move to; what is below it follows as a list of its own. */
  item(node, level) {
    const isFlat = this.words.length > 0;
    const inside = [
      make('span', { class: 'twist', 'aria-hidden': 'true' }),
      make('span', { class: 'name' }, said(isFlat ? node.path : node.name)),
      node.description && make('span', { class: 'note' }, ' ', said(node.description)),
      node.scripts > 0 && make('span', { class: 'mark', title: counted(node.scripts, 'script'), 'aria-hidden': 'true' }, `${node.scripts}⚙︎`),
    ];
    const attributes = { role: 'treeitem', 'aria-level': level, tabindex: -1 };
    const entry = node.isRoot
      ? make('span', { ...attributes, class: 'entry root' }, inside)
      : make('a', { ...attributes, class: 'entry', href: toSkill(node.path), title: plain(`${node.path}\n${node.description}`) }, inside);
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

  /** Shows which skill is picked, and opens what is above it. */
  pick(path) {
    if (this.picked === path) return this.mark();
    this.picked = path;
    const chain = [];
    for (let node = this.byPath.get(path)?.above; node; node = node.above) chain.unshift(node);
    if (this.words.length === 0) {
      for (const node of chain) {
        const entry = this.entries().find(entry => entry.node === node);
        if (entry) this.expand(entry);
        else this.open.add(node.path);
      }
    }
    this.mark();
    // The rest of the page stays where it is.
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

  /** Moves the focus. What has it is where the Tab key comes back to. */
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
    const above = entry.closest('[role=group]')?.previousSibling;
    const actions = {
      ArrowDown: () => this.move(entries[at + 1]),
      ArrowUp: () => this.move(entries[at - 1]),
      Home: () => this.move(entries[0]),
      End: () => this.move(entries.at(-1)),
      ArrowRight: () => (state === 'false' ? this.expand(entry) : state === 'true' && this.move(entries[at + 1])),
      ArrowLeft: () => (state === 'true' ? this.collapse(entry) : this.move(above)),
      Enter: () => this.choose(entry),
      ' ': () => this.choose(entry),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  click(event) {
    const entry = event.target.closest('[role=treeitem]');
    // Whoever holds a key wants the link in another window.
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
    location.hash = toSkill(entry.node.path);
  }

  toggle(entry) {
    if (entry.getAttribute('aria-expanded') === 'true') this.collapse(entry);
    else this.expand(entry);
  }
}
