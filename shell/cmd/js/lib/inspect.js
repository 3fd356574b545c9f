// util.inspect and util.format.
globalThis.__node = {};
(() => {
  const plainKey = /^[A-Za-z_$][\w$]*$/;
  const quote = s => {
    const q = !s.includes("'") ? "'" : !s.includes('"') ? '"' : !s.includes('`') ? '`' : "'";
    const body = s.replace(/[\\\n\r\t\b\f\v]/g, c => ({ '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f', '\v': '\\v' })[c])
      .replace(/[\x00-\x1f\x7f]/g, c => '\\x' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));
    return q + (q === "'" ? body.replace(/'/g, "\\'") : body) + q;
  };
  const nameOf = v => {
    const p = Object.getPrototypeOf(v);
    if (p === null) return null;
    const c = p.constructor;
    return typeof c === 'function' && c.name ? c.name : 'Object';
  };
  const key = k => typeof k === 'symbol' ? '[' + k.toString() + ']' : plainKey.test(k) ? k : quote(k);

  function primitive(v, top) {
    switch (typeof v) {
      case 'string': return top ? v : quote(v);
      case 'number': return Object.is(v, -0) ? '-0' : String(v);
      case 'bigint': return v + 'n';
      case 'symbol': return v.toString();
      default: return String(v);
    }
  }

  function errorText(e, depth, seen, opts) {
    let head = typeof e.stack === 'string' && e.stack ? e.stack.replace(/\n+$/, '') : '';
    const title = String(e.name) + (e.message ? ': ' + e.message : '');
    if (!head.startsWith(title)) head = head ? title + '\n' + head : title;
    if (!e.stack) head = '[' + title + ']';
    const extra = Object.keys(e).filter(k => k !== 'stack' && k !== 'message');
    if (e.cause !== undefined && !extra.includes('cause')) head += ' {\n  [cause]: ' + inspectValue(e.cause, depth + 1, seen, opts).replace(/\n/g, '\n  ') + '\n}';
    if (!extra.length) return head;
    return head + ' {\n' + extra.map(k => '  ' + key(k) + ': ' + inspectValue(e[k], depth + 1, seen, opts).replace(/\n/g, '\n  ')).join(',\n') + '\n}';
  }

  function functionText(v) {
    const isClass = /^class\b/.test(Function.prototype.toString.call(v));
    const base = isClass ? 'class' : nameOf(v) || 'Function';
    return isClass ? `[class ${v.name || '(anonymous)'}]` : v.name ? `[${base}: ${v.name}]` : `[${base} (anonymous)]`;
  }

  function inspectValue(v, depth, seen, opts) {
    if (v === null || typeof v !== 'object' && typeof v !== 'function') return primitive(v, false);
    if (seen.includes(v)) return '[Circular *1]';
    if (v instanceof Error) return errorText(v, depth, seen, opts);
    if (v instanceof Date) return isNaN(v) ? 'Invalid Date' : v.toISOString();
    if (v instanceof RegExp) return String(v);
    if (v instanceof Promise) return 'Promise { <pending> }';
    const custom = v[Symbol.for('nodejs.util.inspect.custom')];
    if (typeof custom === 'function') { const r = custom.call(v, opts.depth - depth, opts); return typeof r === 'string' ? r : inspectValue(r, depth, seen, opts); }
    const name = nameOf(v);
    const keys = Object.keys(v).concat(Object.getOwnPropertySymbols(v).filter(s => Object.prototype.propertyIsEnumerable.call(v, s)));
    let open = '{', close = '}', head = '', items = [];
    const list = Array.isArray(v);
    const typed = ArrayBuffer.isView(v) && !(v instanceof DataView);
    if (typeof v === 'function') { head = functionText(v); if (!keys.length) return head; head += ' '; }
    else if (v instanceof Number || v instanceof String || v instanceof Boolean) return `[${name}: ${primitive(v.valueOf(), false)}]`;
    else if (list || typed) {
      open = '['; close = ']';
      if (typed || name !== 'Array') head = `${name}(${v.length}) `;
      if (name === 'Buffer') return '<Buffer' + Array.from(v.subarray(0, 50), b => ' ' + b.toString(16).padStart(2, '0')).join('') + (v.length > 50 ? ` ... ${v.length - 50} more bytes` : '') + '>';
    }
    else if (v instanceof Map || v instanceof Set) head = `${name}(${v.size}) `;
    else if (name === null) head = '[Object: null prototype] ';
    else if (name !== 'Object') head = name + ' ';
    const tag = v[Symbol.toStringTag];
    if (typeof tag === 'string' && tag && tag !== name && !list && !typed && !(v instanceof Map) && !(v instanceof Set)) head = (name === null ? '[Object: null prototype] ' : (name === 'Object' ? 'Object ' : name + ' ')) + `[${tag}] `;
    if (depth > opts.depth) return list ? '[Array]' : `[${name === null ? 'Object: null prototype' : name}]`;
    const inner = seen.concat([v]);
    const show = x => inspectValue(x, depth + 1, inner, opts);
    if (list || typed) {
      const n = Math.min(v.length, 100);
      for (let i = 0; i < n; i++) {
        if (list && !(i in v)) { let j = i; while (j < n && !(j in v)) j++; items.push(`<${j - i} empty item${j - i > 1 ? 's' : ''}>`); i = j - 1; continue; }
        items.push(show(v[i]));
      }
      if (v.length > n) items.push(`... ${v.length - n} more item${v.length - n > 1 ? 's' : ''}`);
    } else if (v instanceof Map) for (const [k, x] of v) items.push(show(k) + ' => ' + show(x));
    else if (v instanceof Set) for (const x of v) items.push(show(x));
    const entries = items.length;
    for (const k of keys) {
      if ((list || typed) && typeof k === 'string' && /^\d+$/.test(k)) continue;
      const d = Object.getOwnPropertyDescriptor(v, k);
      let text;
      if (d && (d.get || d.set)) text = d.get ? d.set ? '[Getter/Setter]' : '[Getter]' : '[Setter]';
      else text = show(v[k]);
      items.push(key(k) + ': ' + text);
    }
    if (!items.length) return head + open + close;
    return head + layout(items, open, close, list && entries === items.length, head, opts, v);
  }

  function layout(items, open, close, list, head, opts, v) {
    const total = items.reduce((n, s) => n + s.length, items.length);
    const multi = items.some(s => s.includes('\n'));
    if (list && items.length > 6 && !multi) { const g = group(items, v); if (g.length !== items.length || g[0] !== items[0]) return open + '\n  ' + g.join('\n  ') + '\n' + close; }
    else if (total + items.length <= 76 && !multi && open.length + head.length + total <= 76) {
      const line = `${open} ${items.join(', ')} ${close}`;
      if (line.length <= 76) return line;
    }
    return open + '\n  ' + items.map(s => s.replace(/\n/g, '\n  ')).join(',\n  ') + '\n' + close;
  }

  // group puts the entries of a long list into columns.
  function group(items, v) {
    const extra = items[items.length - 1].startsWith('... ') ? 1 : 0;
    const n = items.length - extra;
    let width = 0, total = 0;
    const lens = [];
    for (let i = 0; i < n; i++) { lens.push(items[i].length); total += items[i].length + 2; width = Math.max(width, items[i].length); }
    const actual = width + 2;
    if (!(actual * 3 < 80 && (total / actual > 5 || width <= 6))) return items;
    const bias = Math.sqrt(actual - total / items.length);
    const biased = Math.max(actual - 3 - bias, 1);
    const columns = Math.min(Math.round(Math.sqrt(2.5 * biased * n) / biased), Math.floor(80 / actual), 12, 15);
    if (columns <= 1) return items;
    const widths = [];
    for (let c = 0; c < columns; c++) { let m = 0; for (let i = c; i < n; i += columns) m = Math.max(m, lens[i]); widths.push(m + 2); }
    const right = Array.isArray(v) && v.every(x => typeof x === 'number' || typeof x === 'bigint');
    const rows = [];
    for (let i = 0; i < n; i += columns) {
      const end = Math.min(i + columns, n);
      let row = '';
      for (let j = i; j < end - 1; j++) { const cell = items[j] + ', '; row += right ? cell.padStart(widths[j - i]) : cell.padEnd(widths[j - i]); }
      row += right ? items[end - 1].padStart(widths[end - 1 - i] - 2) : items[end - 1];
      rows.push(row + (i + columns < n || extra ? ',' : ''));
    }
    if (extra) rows.push(items[n]);
    return rows;
  }

  const inspect = (v, o) => inspectValue(v, 0, [], Object.assign({ depth: 2 }, o, o && o.depth === null ? { depth: Infinity } : {}));
  inspect.custom = Symbol.for('nodejs.util.inspect.custom');

  function format(...args) {
    let out = '', i = 0;
    if (typeof args[0] === 'string') {
      const f = args[0];
      i = 1;
      out = args.length === 1 ? f : f.replace(/%[sdifjoOc%]/g, m => {
        if (m === '%%') return '%';
        if (i >= args.length) return m;
        const a = args[i++];
        switch (m) {
          case '%s': return typeof a === 'string' ? a : typeof a === 'object' && a !== null ? inspect(a, { depth: 0 }) : primitive(a, true);
          case '%d': return typeof a === 'bigint' ? a + 'n' : typeof a === 'object' ? 'NaN' : primitive(Number(a));
          case '%i': return typeof a === 'bigint' ? a + 'n' : String(parseInt(a));
          case '%f': return String(parseFloat(a));
          case '%j': try { return JSON.stringify(a); } catch { return '[Circular]'; }
          case '%c': return '';
          default: return inspect(a, m === '%o' ? { depth: 4 } : undefined);
        }
      });
    }
    for (; i < args.length; i++) out += (i > 0 || out ? ' ' : '') + (typeof args[i] === 'string' ? args[i] : inspect(args[i]));
    return out;
  }
  __node.util = {
    inspect, format,
    promisify: f => (...a) => new Promise((ok, no) => f(...a, (e, v) => e ? no(e) : ok(v))),
    inherits: (c, s) => Object.setPrototypeOf(c.prototype, s.prototype),
    isDeepStrictEqual: (a, b) => __equal(a, b, true),
    types: { isPromise: v => v instanceof Promise, isDate: v => v instanceof Date, isRegExp: v => v instanceof RegExp },
    deprecate: f => f,
  };
  globalThis.__equal = function equal(a, b, strict) {
    if (Object.is(a, b) || !strict && a == b) return true;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (a instanceof Date && b instanceof Date) return +a === +b;
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
    if (a instanceof Error && b instanceof Error && (a.message !== b.message || a.name !== b.name)) return false;
    if (a instanceof Map || a instanceof Set) {
      if (!(b instanceof a.constructor) || a.size !== b.size) return false;
      return equal([...a], [...b], strict);
    }
    const ka = Object.keys(a), kb = Object.keys(b);
    return ka.length === kb.length && Array.isArray(a) === Array.isArray(b) && ka.every(k => k in b && equal(a[k], b[k], strict));
  };
})();
