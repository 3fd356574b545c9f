// node:fs over __fs(operation, path, ...), and Buffer.
(() => {
  const path = __node.path;
  const latin = a => { let s = ''; for (let i = 0; i < a.length; i += 8192) s += String.fromCharCode.apply(null, a.subarray(i, i + 8192)); return s; };
  const fromLatin = (s, T = Buffer) => { const b = new T(s.length); for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i); return b; };
  const utf8 = s => {
    const out = [];
    for (const c of s) {
      let p = c.codePointAt(0);
      if (p >= 0xd800 && p < 0xe000) p = 0xfffd;
      if (p < 0x80) out.push(p);
      else if (p < 0x800) out.push(0xc0 | p >> 6, 0x80 | p & 63);
      else if (p < 0x10000) out.push(0xe0 | p >> 12, 0x80 | p >> 6 & 63, 0x80 | p & 63);
      else out.push(0xf0 | p >> 18, 0x80 | p >> 12 & 63, 0x80 | p >> 6 & 63, 0x80 | p & 63);
    }
    return out;
  };
  const fromUtf8 = a => {
    let s = '';
    for (let i = 0; i < a.length;) {
      const b = a[i++];
      let n = b < 0x80 ? 0 : b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : -1;
      if (n === 0) { s += String.fromCharCode(b); continue; }
      if (n < 0) { s += '\ufffd'; continue; }
      let p = b & (0x3f >> n), k = 0;
      const low = b === 0xe0 ? 0xa0 : b === 0xf0 ? 0x90 : 0x80, high = b === 0xed ? 0x9f : b === 0xf4 ? 0x8f : 0xbf;
      while (k < n && i < a.length && a[i] >= (k ? 0x80 : low) && a[i] <= (k ? 0xbf : high)) { p = p << 6 | a[i++] & 63; k++; }
      s += k === n ? String.fromCodePoint(p) : '\ufffd';
    }
    return s;
  };
  const b64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const toBase64 = a => {
    let s = '';
    for (let i = 0; i < a.length; i += 3) {
      const n = a[i] << 16 | (a[i + 1] || 0) << 8 | (a[i + 2] || 0);
      s += b64[n >> 18] + b64[n >> 12 & 63] + (i + 1 < a.length ? b64[n >> 6 & 63] : '=') + (i + 2 < a.length ? b64[n & 63] : '=');
    }
    return s;
  };
  const fromBase64 = s => {
    const out = [];
    let n = 0, bits = 0;
    for (const c of s) {
      const v = c === '-' ? 62 : c === '_' ? 63 : b64.indexOf(c);
      if (c === '=') break;
      if (v < 0) continue;
      n = (n << 6 | v) & 0xffffff; bits += 6;
      if (bits >= 8) { bits -= 8; out.push(n >> bits & 255); }
    }
    return out;
  };
  class Buffer extends Uint8Array {
    static from(v, enc) {
      if (typeof v === 'string') {
        switch ((enc || 'utf8').toLowerCase()) {
          case 'hex': v = (v.match(/[0-9a-f]{2}/gi) || []).map(h => parseInt(h, 16)); break;
          case 'base64': case 'base64url': v = fromBase64(v); break;
          case 'latin1': case 'binary': case 'ascii': return fromLatin(v);
          default: v = utf8(v);
        }
      } else if (v instanceof ArrayBuffer) return new Buffer(v);
      const b = new Buffer(v.length);
      b.set(v);
      return b;
    }
    static alloc(n, fill) { const b = new Buffer(n); if (fill) b.fill(typeof fill === 'string' ? fill.charCodeAt(0) : fill); return b; }
    static allocUnsafe(n) { return new Buffer(n); }
    static isBuffer(b) { return b instanceof Buffer; }
    static byteLength(s) { return typeof s === 'string' ? utf8(s).length : s.byteLength; }
    static concat(list, total) {
      total ??= list.reduce((n, b) => n + b.length, 0);
      const out = new Buffer(total);
      let at = 0;
      for (const b of list) { out.set(b.subarray(0, total - at), at); at += b.length; }
      return out;
    }
    static compare(a, b) { for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1; return Math.sign(a.length - b.length); }
    toString(enc = 'utf8', from = 0, to = this.length) {
      const a = this.subarray(from, to);
      switch (enc.toLowerCase()) {
        case 'hex': return Array.from(a, b => b.toString(16).padStart(2, '0')).join('');
        case 'base64': return toBase64(a);
        case 'base64url': return toBase64(a).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
        case 'latin1': case 'binary': case 'ascii': return latin(a);
        default: return fromUtf8(a);
      }
    }
    equals(b) { return Buffer.compare(this, b) === 0; }
    slice(a, b) { return this.subarray(a, b); }
    write(s, at = 0) { const b = Buffer.from(s); this.set(b.subarray(0, this.length - at), at); return Math.min(b.length, this.length - at); }
    readUInt8(i = 0) { return this[i]; }
    readUInt16LE(i = 0) { return this[i] | this[i + 1] << 8; }
    readUInt16BE(i = 0) { return this[i] << 8 | this[i + 1]; }
    readUInt32LE(i = 0) { return (this[i] | this[i + 1] << 8 | this[i + 2] << 16 | this[i + 3] << 24) >>> 0; }
    readUInt32BE(i = 0) { return (this[i] << 24 | this[i + 1] << 16 | this[i + 2] << 8 | this[i + 3]) >>> 0; }
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
  }
  globalThis.Buffer = Buffer;
  globalThis.TextEncoder = class { get encoding() { return 'utf-8'; } encode(s = '') { return Uint8Array.from(utf8(String(s))); } };
  globalThis.TextDecoder = class { get encoding() { return 'utf-8'; } decode(a) { return a === undefined ? '' : fromUtf8(a instanceof ArrayBuffer ? new Uint8Array(a) : new Uint8Array(a.buffer, a.byteOffset, a.byteLength)).replace(/^\ufeff/, ''); } };
  globalThis.btoa = s => toBase64(fromLatin(String(s)));
  globalThis.atob = s => latin(Uint8Array.from(fromBase64(String(s))));
  __node.buffer = { Buffer };
  globalThis.__bytes = d => latin(d instanceof Uint8Array ? d : new Uint8Array(d.buffer || d));

  const name = p => {
    if (p && typeof p === 'object' && 'href' in p) p = decodeURIComponent(String(p.href).replace(/^file:\/\//, ''));
    if (p instanceof Uint8Array) p = fromUtf8(p);
    if (typeof p !== 'string') { const e = new TypeError('The "path" argument must be of type string or an instance of Buffer or URL. Received ' + __node.util.inspect(p)); e.code = 'ERR_INVALID_ARG_TYPE'; throw e; }
    return p;
  };
  function call(sys, op, p, ...rest) {
    const full = op === 'symlink' ? p : path.resolve(p);
    try { return __fs(op, full, ...rest); } catch (e) {
      const [code, text] = String(e.message ?? e).replace(/^Error: /, '').split('|');
      const to = ['rename', 'link', 'symlink', 'copyfile'].includes(sys) ? ` -> '${rest[0]}'` : '';
      const err = new Error(`${code}: ${text ?? 'unknown error'}, ${sys} '${p}'${to}`);
      Object.assign(err, { errno: -1, code, syscall: sys, path: p });
      if (to) err.dest = rest[0];
      throw err;
    }
  }
  const types = { 0o100000: 'File', 0o040000: 'Directory', 0o120000: 'SymbolicLink', 0o010000: 'FIFO', 0o140000: 'Socket', 0o020000: 'CharacterDevice', 0o060000: 'BlockDevice' };
  const addTypes = C => { for (const [m, n] of Object.entries(types)) Object.defineProperty(C.prototype, 'is' + n, { value() { return this._type === +m; } }); };
  class Stats {
    constructor(text) {
      const n = text.split(' ').map(Number);
      Object.defineProperty(this, '_type', { value: n[1] & 0o170000 });
      Object.assign(this, { dev: 1, mode: n[1], nlink: n[2], uid: n[3], gid: n[4], rdev: 0, blksize: 4096, ino: n[0], size: n[5], blocks: n[6] });
      ['atime', 'mtime', 'ctime', 'birthtime'].forEach((k, i) => { this[k + 'Ms'] = n[7 + i] / 1e6; this[k] = new Date(n[7 + i] / 1e6); });
    }
  }
  addTypes(Stats);
  class Dirent { constructor(type, name, dir) { Object.defineProperty(this, '_type', { value: type }); this.name = name; this.path = this.parentPath = dir; } }
  addTypes(Dirent);
  const encoding = o => typeof o === 'string' ? o : o && o.encoding;
  const sync = {
    readFile(p, o) {
      if (p === 0 || p === '/dev/stdin') { const b = fromLatin(__stdin()); return encoding(o) ? b.toString(encoding(o)) : b; }
      const enc = encoding(o);
      if (enc && /^utf-?8$/i.test(enc)) return call('open', 'readText', name(p));
      const b = fromLatin(call('open', 'read', name(p)));
      return enc ? b.toString(enc) : b;
    },
    writeFile(p, d, o) {
      const flag = o && o.flag || 'w', mode = o && o.mode || 0o666;
      if (p === 1 || p === 2) { typeof d === 'string' ? __write(p, d) : __write(p + 2, __bytes(d)); return; }
      if (typeof d === 'string' && !/^(hex|base64|latin1|binary)$/.test(encoding(o) || '')) call('open', 'writeText', name(p), d, flag, mode);
      else if (typeof d === 'string') call('open', 'write', name(p), latin(Buffer.from(d, encoding(o))), flag, mode);
      else if (ArrayBuffer.isView(d)) call('open', 'write', name(p), __bytes(d), flag, mode);
      else { const e = new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ' + __node.util.inspect(d)); e.code = 'ERR_INVALID_ARG_TYPE'; throw e; }
    },
    appendFile(p, d, o) { sync.writeFile(p, d, Object.assign({}, typeof o === 'object' ? o : {}, { flag: 'a' })); },
    stat(p, o) { try { return new Stats(call('stat', 'stat', name(p))); } catch (e) { if (o && o.throwIfNoEntry === false && e.code === 'ENOENT') return; throw e; } },
    lstat(p) { return new Stats(call('lstat', 'lstat', name(p))); },
    readdir(p, o) {
      const dir = name(p), parts = call('scandir', 'readdir', dir).split('/');
      let out = [];
      for (let i = 0; i + 1 < parts.length; i += 2) out.push(new Dirent(+parts[i], parts[i + 1], dir));
      out.sort((a, b) => a.name < b.name ? -1 : 1);
      if (o && o.recursive) out = out.flatMap(e => e.isDirectory() ? [e, ...sync.readdir(path.join(dir, e.name), { recursive: true, withFileTypes: true })] : [e]);
      return o && o.withFileTypes ? out : out.map(e => path.relative(dir, path.join(e.path, e.name)));
    },
    mkdir(p, o) {
      const mode = typeof o === 'number' ? o : o && o.mode || 0o777;
      if (!(o && o.recursive)) return void call('mkdir', 'mkdir', name(p), mode);
      const full = path.resolve(name(p));
      let at = '', first;
      for (const part of full.split('/').filter(Boolean)) {
        at += '/' + part;
        try { call('mkdir', 'mkdir', at, mode); first ??= at; } catch (e) { if (e.code !== 'EEXIST' || at === full && !sync.stat(at).isDirectory()) throw e; }
      }
      return first;
    },
    rm(p, o) {
      let st;
      try { st = sync.lstat(p); } catch (e) { if (o && o.force && e.code === 'ENOENT') return; e.message = e.message.replace('lstat', 'rm'); throw e; }
      if (!st.isDirectory()) return sync.unlink(p);
      if (!(o && o.recursive)) { const e = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${p}`); e.code = 'ERR_FS_EISDIR'; throw e; }
      for (const n of sync.readdir(p)) sync.rm(path.join(p, n), o);
      sync.rmdir(p);
    },
    rmdir(p, o) { if (o && o.recursive) return sync.rm(p, o); call('rmdir', 'rmdir', name(p)); },
    unlink(p) { call('unlink', 'unlink', name(p)); },
    rename(a, b) { call('rename', 'rename', name(a), path.resolve(name(b))); },
    copyFile(a, b, flags) { const st = sync.stat(a); sync.writeFile(b, sync.readFile(a), { flag: flags & 1 ? 'wx' : 'w', mode: st.mode & 0o777 }); },
    cp(a, b, o) {
      const st = sync.lstat(a);
      if (st.isDirectory()) {
        if (!(o && o.recursive)) { const e = new Error(`Recursive option not enabled, cannot copy a directory: ${a}`); e.code = 'ERR_FS_EISDIR'; throw e; }
        sync.mkdir(b, { recursive: true });
        for (const n of sync.readdir(a)) sync.cp(path.join(a, n), path.join(b, n), o);
      } else if (st.isSymbolicLink()) sync.symlink(sync.readlink(a), b);
      else sync.copyFile(a, b);
    },
    access(p, mode = 0) { call('access', 'access', name(p), mode); },
    symlink(t, p) { call('symlink', 'symlink', name(t), path.resolve(name(p))); },
    link(a, b) { call('link', 'link', name(a), path.resolve(name(b))); },
    readlink(p) { return call('readlink', 'readlink', name(p)); },
    realpath(p) { return call('realpath', 'realpath', name(p)); },
    chmod(p, m) { call('chmod', 'chmod', name(p), typeof m === 'string' ? parseInt(m, 8) : m); },
    truncate(p, n = 0) { call('open', 'truncate', name(p), n); },
    utimes(p, a, m) { const ms = t => t instanceof Date ? +t : t * 1000; call('utime', 'utimes', name(p), ms(a), ms(m)); },
    mkdtemp(prefix) {
      for (let i = 0; ; i++) {
        const p = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, 'x');
        try { sync.mkdir(p, 0o700); return p; } catch (e) { if (e.code !== 'EEXIST' || i > 100) throw e; }
      }
    },
  };
  const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1 };
  const promises = { constants }, fs = { promises, constants, Stats, Dirent, existsSync(p) { try { sync.stat(p); return true; } catch { return false; } } };
  for (const [k, f] of Object.entries(sync)) {
    fs[k + 'Sync'] = f;
    promises[k] = async (...a) => f(...a);
    fs[k] = (...a) => { const cb = a.pop(); promises[k](...a).then(v => cb(null, v), e => cb(e)); };
  }
  fs.exists = (p, cb) => queueMicrotask(() => cb(fs.existsSync(p)));
  fs.realpathSync.native = sync.realpath;
  Object.assign(fs, constants);
  __node.fs = fs;
  __node['fs/promises'] = promises;
})();
