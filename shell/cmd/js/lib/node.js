// console, process, timers, require and the small modules.
(() => {
  const { format, inspect } = __node.util;
  let indent = '';
  const line = (fd, a) => __write(fd, (indent + format(...a)).replace(/\n/g, '\n' + indent) + '\n');
  const counts = {}, times = {};
  globalThis.console = {
    log: (...a) => line(1, a), info: (...a) => line(1, a), debug: (...a) => line(1, a), error: (...a) => line(2, a), warn: (...a) => line(2, a),
    trace: (...a) => line(2, ['Trace: ' + format(...a)]), dir: (v, o) => line(1, [inspect(v, o)]),
    assert: (ok, ...a) => { if (!ok) line(2, a.length ? ['Assertion failed: ' + format(...a)] : ['Assertion failed']); },
    group: (...a) => { if (a.length) line(1, a); indent += '  '; }, groupEnd: () => { indent = indent.slice(2); },
    count: (k = 'default') => line(1, [`${k}: ${counts[k] = (counts[k] || 0) + 1}`]), countReset: (k = 'default') => { counts[k] = 0; },
    time: (k = 'default') => { times[k] = __now(); }, timeEnd: (k = 'default') => line(1, [`${k}: ${(__now() - times[k]).toFixed(3)}ms`]),
    timeLog: (k = 'default', ...a) => line(1, [`${k}: ${(__now() - times[k]).toFixed(3)}ms`, ...a]),
    table: v => {
      if (typeof v !== 'object' || v === null) return line(1, [v]);
      const rows = Object.entries(v), cols = [];
      for (const [, r] of rows) if (typeof r === 'object' && r !== null) for (const k of Object.keys(r)) if (!cols.includes(k)) cols.push(k);
      const plain = rows.some(([, r]) => typeof r !== 'object' || r === null);
      const head = ['(index)', ...cols, ...(plain ? ['Values'] : [])];
      const cells = rows.map(([k, r]) => [k, ...cols.map(c => typeof r === 'object' && r !== null && c in r ? inspect(r[c]) : ''), ...(plain ? [typeof r === 'object' && r !== null ? '' : inspect(r)] : [])]);
      const w = head.map((h, i) => Math.max(h.length, ...cells.map(c => c[i].length)) + 2);
      const mid = (s, n) => { const l = (n - s.length) >> 1; return ' '.repeat(l) + s + ' '.repeat(n - s.length - l); };
      const bar = (a, b, c) => a + w.map(n => '─'.repeat(n)).join(b) + c;
      const row = r => '│' + r.map((s, i) => mid(s, w[i])).join('│') + '│';
      line(1, [[bar('┌', '┬', '┐'), row(head), bar('├', '┼', '┤'), ...cells.map(row), bar('└', '┴', '┘')].join('\n')]);
    },
  };
  class EventEmitter {
    constructor() { Object.defineProperty(this, '_on', { value: new Map(), writable: true }); }
    on(n, f) { this._on || EventEmitter.call2(this); const l = this._on.get(n) || []; this._on.set(n, [...l, f]); return this; }
    addListener(n, f) { return this.on(n, f); }
    once(n, f) { const g = (...a) => { this.off(n, g); f.apply(this, a); }; g.listener = f; return this.on(n, g); }
    off(n, f) { this._on.set(n, (this._on.get(n) || []).filter(g => g !== f && g.listener !== f)); return this; }
    removeListener(n, f) { return this.off(n, f); }
    removeAllListeners(n) { n === undefined ? this._on.clear() : this._on.delete(n); return this; }
    emit(n, ...a) {
      const l = this._on.get(n) || [];
      if (!l.length && n === 'error') throw a[0] instanceof Error ? a[0] : new Error('Unhandled error. (' + inspect(a[0]) + ')');
      for (const f of l) f.apply(this, a);
      return l.length > 0;
    }
    listenerCount(n) { return (this._on.get(n) || []).length; }
    listeners(n) { return (this._on.get(n) || []).map(f => f.listener || f); }
  }
  EventEmitter.EventEmitter = EventEmitter;
  EventEmitter.once = (e, n) => new Promise((ok, no) => { e.once(n, (...a) => ok(a)); if (n !== 'error') e.once('error', no); });
  __node.events = EventEmitter;

  // Timers: a list that the host asks for what comes next.
  let timers = [], lastTimer = 0;
  const add = (f, ms, args, every) => {
    if (typeof f !== 'function') { const e = new TypeError('The "callback" argument must be of type function. Received ' + inspect(f)); e.code = 'ERR_INVALID_ARG_TYPE'; throw e; }
    ms = Math.max(1, +ms || 0);
    const t = { id: ++lastTimer, at: __now() + ms, f, args, every: every ? ms : 0, dead: false, idle: false,
      ref() { this.idle = false; return this; }, unref() { this.idle = true; return this; }, hasRef() { return !this.idle; }, [Symbol.toPrimitive]() { return this.id; } };
    timers.push(t);
    return t;
  };
  const clear = t => { const i = timers.findIndex(x => x === t || x.id === t); if (i >= 0) { timers[i].dead = true; timers.splice(i, 1); } };
  let soon = [];
  Object.assign(globalThis, {
    setTimeout: (f, ms, ...a) => add(f, ms, a, false), setInterval: (f, ms, ...a) => add(f, ms, a, true), clearTimeout: clear, clearInterval: clear,
    setImmediate: (f, ...a) => { const t = { f, a }; soon.push(t); return t; }, clearImmediate: t => { soon = soon.filter(x => x !== t); },
    queueMicrotask: f => { Promise.resolve().then(() => { try { f(); } catch (e) { failed ??= { e }; } }); }, global: globalThis,
    structuredClone: function clone(v, seen = new Map()) {
      if (typeof v === 'function' || typeof v === 'symbol') throw new Error(String(v) + ' could not be cloned.');
      if (typeof v !== 'object' || v === null) return v;
      if (seen.has(v)) return seen.get(v);
      if (v instanceof Date) return new Date(+v);
      if (v instanceof RegExp) return new RegExp(v.source, v.flags);
      if (ArrayBuffer.isView(v)) return v.slice();
      const out = Array.isArray(v) ? [] : v instanceof Map ? new Map() : v instanceof Set ? new Set() : v instanceof Error ? new v.constructor(v.message) : {};
      seen.set(v, out);
      if (v instanceof Map) for (const [k, x] of v) out.set(clone(k, seen), clone(x, seen));
      else if (v instanceof Set) for (const x of v) out.add(clone(x, seen));
      else for (const k of Object.keys(v)) out[k] = clone(v[k], seen);
      return out;
    },
  });
  let failed = null;
  globalThis.__tick = () => {
    if (failed) { const { e } = failed; failed = null; throw e; }
    if (soon.length) { const now = soon; soon = []; for (const t of now) t.f(...t.a); return 0; }
    if (stdinWanted) { stdinWanted = false; feedStdin(); return 0; }
    if (!timers.some(t => !t.idle)) return -1;
    timers.sort((a, b) => a.at - b.at || a.id - b.id);
    const now = __now(), t = timers[0];
    if (t.at > now) return Math.max(0.1, t.at - now);
    if (t.every) t.at = now + t.every; else timers.shift();
    t.f(...t.args);
    return 0;
  };
  const sleep = (ms, v) => new Promise(ok => setTimeout(ok, ms, v));
  __node.timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  __node['timers/promises'] = { setTimeout: sleep, setImmediate: v => new Promise(ok => setImmediate(ok, v)) };

  let stdinWanted = false;
  const stdin = new EventEmitter();
  let stdinEnc = null, chunks = null;
  function feedStdin() { const b = __node.fs.readFileSync(0); if (b.length) stdin.emit('data', stdinEnc ? b.toString(stdinEnc) : b); stdin.emit('end'); stdin.emit('close'); }
  Object.assign(stdin, {
    fd: 0, isTTY: false, setEncoding(e) { stdinEnc = e; return this; }, resume() { stdinWanted = true; return this; }, pause() { return this; }, unref() { return this; }, ref() { return this; },
    on(n, f) { if (n === 'data' || n === 'end' || n === 'readable') stdinWanted = true; return EventEmitter.prototype.on.call(this, n, f); },
    async *[Symbol.asyncIterator]() { const b = __node.fs.readFileSync(0); if (b.length) yield stdinEnc ? b.toString(stdinEnc) : b; },
  });
  const stream = fd => Object.assign(new EventEmitter(), {
    fd, isTTY: false, columns: 80, writable: true,
    write(d, enc, cb) { typeof d === 'string' ? __write(fd, d) : __write(fd + 2, __bytes(d)); cb = typeof enc === 'function' ? enc : cb; if (cb) queueMicrotask(cb); return true; },
    end(d) { if (d !== undefined) this.write(d); },
  });

  globalThis.__setup = s => {
    let cwd = s.cwd;
    const events = new EventEmitter();
    const process = Object.assign(events, {
      argv: s.argv, argv0: 'node', execPath: s.argv[0], execArgv: [], env: s.env, pid: s.pid, ppid: 1, platform: 'linux', arch: 'x64', title: 'node', version: s.version,
      versions: { node: s.version.slice(1), quickjs: '2026' }, release: { name: 'node' }, exitCode: undefined, stdin, stdout: stream(1), stderr: stream(2),
      cwd: () => cwd,
      chdir(d) { const p = __node.path.resolve(d); if (!__node.fs.statSync(p).isDirectory()) throw new Error(`ENOTDIR: not a directory, chdir '${cwd}' -> '${d}'`); cwd = p; },
      exit(c) { const code = c ?? process.exitCode ?? 0; if (!process._exiting) { process._exiting = true; process.emit('exit', code); } __exit(+code); for (;;); },
      abort() { __exit(134); for (;;); },
      nextTick: (f, ...a) => queueMicrotask(() => f(...a)), getuid: () => s.uid, getgid: () => s.gid, geteuid: () => s.uid, umask: () => 0o022, uptime: () => (__now() - start) / 1000,
      memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0 }), emitWarning: w => __write(2, `(node:${s.pid}) ${w.name || 'Warning'}: ${w.message || w}\n`),
      hrtime: Object.assign(p => { const n = __now(); let a = [Math.floor(n / 1000), Math.floor(n % 1000 * 1e6)]; if (p) { a = [a[0] - p[0], a[1] - p[1]]; if (a[1] < 0) a = [a[0] - 1, a[1] + 1e9]; } return a; }, { bigint: () => BigInt(Math.floor(__now() * 1e6)) }),
    });
    const start = __now();
    globalThis.process = __node.process = process;
    globalThis.performance = { now: () => __now() - start, timeOrigin: start };
    __node.os = { EOL: '\n', platform: () => 'linux', type: () => 'Linux', arch: () => 'x64', tmpdir: () => '/tmp', homedir: () => s.env.HOME || '/', hostname: () => s.hostname, cpus: () => [], totalmem: () => 0, freemem: () => 0, release: () => '', userInfo: () => ({ uid: s.uid, gid: s.gid, username: s.env.USER || 'root', homedir: s.env.HOME || '/', shell: '/bin/bash' }) };
    __node.perf_hooks = { performance };
    for (const k of Object.keys(globalThis)) if (k.startsWith('__')) Object.defineProperty(globalThis, k, { enumerable: false });
    const reserved = /^(default|delete|function|new|class|if|in|import|export|var|void|with)$/;
    return Object.entries(__node).map(([n, m]) => n + ' ' + Object.keys(m).filter(k => /^[A-Za-z_$][\w$]*$/.test(k) && !reserved.test(k)).join(',')).join('\n');
  };
  globalThis.__exitCode = () => { const c = process.exitCode ?? 0; process._exiting = true; process.emit('beforeExit', c); process.emit('exit', c); return +(process.exitCode ?? 0); };

  class AssertionError extends Error { constructor(o) { super(o.message); this.name = 'AssertionError'; this.code = 'ERR_ASSERTION'; Object.assign(this, { actual: o.actual, expected: o.expected, operator: o.operator }); } }
  const assert = (v, m) => { if (!v) fail(m, v, true, '==', 'The expression evaluated to a falsy value'); };
  const fail = (m, actual, expected, operator, text) => { throw m instanceof Error ? m : new AssertionError({ message: m ?? text, actual, expected, operator }); };
  Object.assign(assert, {
    AssertionError, ok: assert, fail: m => fail(m, undefined, undefined, 'fail', 'Failed'),
    equal: (a, b, m) => { if (!(a == b || a !== a && b !== b)) fail(m, a, b, '==', `${inspect(a)} == ${inspect(b)}`); },
    notEqual: (a, b, m) => { if (a == b) fail(m, a, b, '!=', `${inspect(a)} != ${inspect(b)}`); },
    strictEqual: (a, b, m) => { if (!Object.is(a, b)) fail(m, a, b, 'strictEqual', `Expected values to be strictly equal:\n\n${inspect(a)} !== ${inspect(b)}\n`); },
    notStrictEqual: (a, b, m) => { if (Object.is(a, b)) fail(m, a, b, 'notStrictEqual', 'Expected "actual" to be strictly unequal to: ' + inspect(b)); },
    deepEqual: (a, b, m) => { if (!__equal(a, b, false)) fail(m, a, b, 'deepEqual', `Expected values to be loosely deep-equal:\n\n${inspect(a)}\n\nshould loosely deep-equal\n\n${inspect(b)}`); },
    deepStrictEqual: (a, b, m) => { if (!__equal(a, b, true)) fail(m, a, b, 'deepStrictEqual', `Expected values to be strictly deep-equal:\n\n${inspect(a)}\n\nshould equal\n\n${inspect(b)}`); },
    notDeepStrictEqual: (a, b, m) => { if (__equal(a, b, true)) fail(m, a, b, 'notDeepStrictEqual', 'Expected "actual" not to be strictly deep-equal to: ' + inspect(b)); },
    throws: (f, want, m) => { let e; try { f(); } catch (x) { e = x; } if (e === undefined) fail(typeof want === 'string' ? want : m, undefined, want, 'throws', 'Missing expected exception.'); if (want instanceof RegExp && !want.test(String(e))) fail(m, e, want, 'throws', `The input did not match the regular expression ${want}. Input:\n\n${inspect(String(e))}\n`); if (typeof want === 'function' && want.prototype && !(e instanceof want)) throw e; },
    rejects: async (p, want, m) => { let e; try { await (typeof p === 'function' ? p() : p); } catch (x) { e = x; } if (e === undefined) fail(m, undefined, want, 'rejects', 'Missing expected rejection.'); if (want instanceof RegExp && !want.test(String(e))) throw e; },
    match: (s, re, m) => { if (!re.test(s)) fail(m, s, re, 'match', `The input did not match the regular expression ${re}. Input:\n\n${inspect(s)}\n`); },
  });
  assert.strict = assert;
  __node.assert = __node['assert/strict'] = assert;
  __node.url = { fileURLToPath: u => decodeURIComponent(String(u.href ?? u).replace(/^file:\/\//, '')), pathToFileURL: p => ({ href: 'file://' + encodeURI(__node.path.resolve(p)), toString() { return this.href; } }) };
  __node.module = { createRequire: f => makeRequire(__node.url.fileURLToPath(f)) };

  // CommonJS.
  const cache = {};
  const compile = (name, text) => (0, eval)('(function (exports, require, module, __filename, __dirname) {' + text + '\n})');
  function makeRequire(from) {
    const resolve = n => { try { return __resolve(from, n); } catch (e) { const err = new Error(String(e.message ?? e).replace(/^Error: /, '').replace(/package/, 'module') + '\nRequire stack:\n- ' + from); err.code = 'MODULE_NOT_FOUND'; throw err; } };
    const require = n => { const p = resolve(n); return p.startsWith('node:') ? __node[p.slice(5)] : load(p); };
    return Object.assign(require, { resolve, cache });
  }
  function load(file) {
    if (cache[file]) return cache[file].exports;
    let text = __node.fs.readFileSync(file, 'utf8');
    const module = cache[file] = { exports: {}, id: file, filename: file, loaded: false };
    try {
      if (file.endsWith('.json')) module.exports = JSON.parse(text);
      else runCommon(module, file, text.startsWith('#!') ? '//' + text : text);
    } catch (e) { delete cache[file]; throw e; }
    module.loaded = true;
    return module.exports;
  }
  const runCommon = (module, file, text) => compile(file, text).call(module.exports, module.exports, makeRequire(file), module, file, __node.path.dirname(file));
  globalThis.__require = load;
  globalThis.__commonKeys = f => Object.keys(load(f) ?? {}).filter(k => /^[A-Za-z_$][\w$]*$/.test(k) && k !== 'default').join(',');
  globalThis.__runMain = (name, text) => {
    const file = name.startsWith('/') ? name : __node.path.resolve(name);
    const module = { exports: {}, id: '.', filename: file };
    if (name.startsWith('/')) cache[name] = module; else { globalThis.require = makeRequire(file); globalThis.module = module; }
    makeRequire.main = module;
    const req = makeRequire(file);
    req.main = module;
    compile(file, text).call(module.exports, module.exports, req, module, file, __node.path.dirname(file));
  };
  let source = '';
  globalThis.__mainSource = () => source;
  globalThis.__runModule = (name, text) => {
    source = text;
    import(name.startsWith('/') ? name : 'vfsd:main').catch(e => { failed ??= { e }; });
  };
  globalThis.__print = text => { globalThis.require = makeRequire(process.cwd() + '/[eval]'); console.log((0, eval)(text)); };
  globalThis.__check = text => { compile('', text); };
})();
