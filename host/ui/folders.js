// The skills of the catalog in their folders, as a tree.

/**
 * Returns all entries of the tree, parents before their children: roots, folders and skills. A skill is below the one it
 * inherits from or that contains it, and below the folders in between.
 */
export function treeOf(all) {
  const manyRoots = all.roots.filter(root => root.skills > 0).length > 1;
  const top = entry({ key: '', own: '' });
  const ancestors = [];
  for (const node of all.nodes) {
    ancestors.length = Math.min(ancestors.length, node.depth);
    const parent = ancestors.at(-1) ?? top;
    const isRoot = manyRoots && node.depth === 0;
    const own = isRoot ? '' : ownFolder(node);
    const made = entry({ ...node, isRoot, isSkill: !isRoot, key: isRoot ? node.path : `${parent.root}${node.path}`, own: own ?? parent.own });
    made.root = isRoot ? node.path : parent.root;
    // A skill's own folder, such as that of an `_index.md`, is its entry.
    folderBelow(parent, isRoot ? '' : folderOf(own ?? node.file)).children.push(made);
    ancestors.push(made);
  }
  top.children = top.children.map(compact);
  const entries = [];
  const collect = (node, parent) => {
    node.parent = parent;
    entries.push(node);
    node.children.forEach(child => collect(child, node));
  };
  top.children.forEach(child => collect(child, null));
  return entries;
}

const entry = fields => ({
  root: '', name: '', path: '', description: '', keywords: [], scripts: 0, isRoot: false, isSkill: false, isFolder: false, above: '',
  children: [], folders: new Map(), ...fields,
});

const folderOf = path => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The folder whose skills are below this one; `null` if none are. */
function ownFolder({ file, model }) {
  const isAbove = model === 'folder' || file === '_root.md' || file === '_index.md' || file.endsWith('/_index.md');
  return isAbove ? folderOf(file) : null;
}

/** Finds or creates the entry of a folder below another entry. */
function folderBelow(parent, place) {
  const prefix = parent.own === '' ? '' : `${parent.own}/`;
  if (!place.startsWith(prefix)) return parent;
  let container = parent;
  for (const name of place.slice(prefix.length).split('/').filter(Boolean)) {
    if (!container.folders.has(name)) {
      const own = container.own === '' ? name : `${container.own}/${name}`;
      const folder = entry({ name, path: own, own, root: parent.root, isFolder: true, key: `${parent.root}${own}/` });
      container.folders.set(name, folder);
      container.children.push(folder);
    }
    container = container.folders.get(name);
  }
  return container;
}

/** Joins folders that contain nothing but one other entry with that entry. */
function compact(node) {
  node.children = node.children.map(compact);
  node.skills = node.children.reduce((sum, child) => sum + child.skills, node.isSkill ? 1 : 0);
  if (!node.isFolder || node.children.length !== 1) return node;
  const [only] = node.children;
  if (only.isFolder) only.name = `${node.name}/${only.name}`;
  else only.above = only.above === '' ? node.name : `${node.name}/${only.above}`;
  return only;
}
