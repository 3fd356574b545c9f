// node:path, for POSIX.
(() => {
  const normalize = p => {
    if (p === '') return '.';
    const abs = p.startsWith('/'), slash = p.endsWith('/');
    const out = [];
    for (const part of p.split('/')) {
      if (part === '' || part === '.') continue;
      if (part === '..' && out.length && out[out.length - 1] !== '..') out.pop();
      else if (part !== '..' || !abs) out.push(part);
    }
    let s = out.join('/');
    if (!s && !abs) s = '.';
    if (s && slash && s !== '.') s += '/';
    else if (s === '.' && slash) s = './';
    return abs ? '/' + s : s;
  };
  const resolve = (...parts) => {
    let p = '';
    for (const x of [globalThis.process ? process.cwd() : '/', ...parts]) p = x === '' ? p : x.startsWith('/') ? x : p + '/' + x;
    p = normalize(p);
    return p.length > 1 && p.endsWith('/') ? p.slice(0, -1) : p;
  };
  const basename = (p, ext) => {
    let b = p.replace(/\/+$/, '');
    b = b.slice(b.lastIndexOf('/') + 1);
    return ext && b !== ext && b.endsWith(ext) ? b.slice(0, -ext.length) : b;
  };
  const dirname = p => {
    const s = p.replace(/\/+$/, '');
    if (!s) return p.startsWith('/') ? '/' : '.';
    const i = s.lastIndexOf('/');
    return i < 0 ? '.' : s.slice(0, i).replace(/\/+$/, '') || '/';
  };
  const extname = p => { const b = basename(p), i = b.lastIndexOf('.'); return i <= 0 || b === '..' ? '' : b.slice(i); };
  const relative = (from, to) => {
    const a = resolve(from).split('/').filter(Boolean), b = resolve(to).split('/').filter(Boolean);
    let i = 0;
    while (i < a.length && i < b.length && a[i] === b[i]) i++;
    return [...a.slice(i).map(() => '..'), ...b.slice(i)].join('/');
  };
  const parse = p => {
    const base = basename(p), ext = extname(p), root = p.startsWith('/') ? '/' : '';
    const d = dirname(p);
    return { root, dir: p.includes('/') ? d : '', base, ext, name: ext ? base.slice(0, -ext.length) : base };
  };
  const format = o => { const d = o.dir || o.root, b = o.base || (o.name || '') + (o.ext || ''); return d ? d === o.root ? d + b : d + '/' + b : b; };
  const path = {
    normalize, resolve, basename, dirname, extname, relative, parse, format, sep: '/', delimiter: ':',
    join: (...parts) => { const s = parts.filter(x => x !== '').join('/'); return s ? normalize(s) : '.'; },
    isAbsolute: p => p.startsWith('/'),
  };
  path.posix = path;
  __node.path = __node['path/posix'] = path;
})();
