/**
 * What stands in a machine before code of others comes to it, as text: it runs inside, so nothing of ours is an object that such code could
 * hold. It takes what it needs of the language before anybody can replace it, gives `tools`, `args` and `console`, and keeps for itself the
 * functions by which the host goes on. Only text and numbers cross. Compiled by `engine.ts`.
 */

/**
 * Evaluates to a function of the two host functions that answers with `[begin, deliver, finish, fail]`:
 * - `begin(names, args, seed)`: gives the globals; all three are JSON.
 * - `deliver(id, answer)`: settles the call `id` with the JSON of its answer.
 * - `finish(value)`: the JSON of what the code returned, or throws saying why it has none.
 * - `fail(error)`: JSON of `[name, message, stack]`, whatever was thrown.
 */
export const guestSource = `(function (hostCall, hostPrint) {
  'use strict';
  const { parse, stringify } = JSON;
  const { create, defineProperty } = Object;
  const PromiseOfGuest = Promise, TypeErrorOfGuest = TypeError, StringOf = String, MathOf = Math, Uint32 = Uint32Array;
  const apply = Reflect.apply;
  const { slice, indexOf, lastIndexOf, includes, split, replace, replaceAll } = String.prototype;
  const floor = Math.floor, imul = Math.imul, min = Math.min, max = Math.max;

  // No values that JSON cannot carry and whose printing takes seconds; no memory that is shared.
  for (const name of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'performance', 'eval', 'Function'])
    delete globalThis[name];
  for (const name of ['getBigInt64', 'getBigUint64', 'setBigInt64', 'setBigUint64']) delete DataView.prototype[name];

  // The engine looks for a text by trying it at every place: for two long ones that is hours in one step, which nothing can interrupt.
  const most = 4000000;
  const find = (text, part, from) => {
    if (part.length < 32 || text.length * part.length < most) return apply(indexOf, text, [part, from]);
    const steps = new Uint32(part.length);
    for (let at = 1, length = 0; at < part.length; ) {
      if (part[at] === part[length]) steps[at++] = ++length;
      else if (length > 0) length = steps[length - 1];
      else steps[at++] = 0;
    }
    for (let at = from, length = 0; at < text.length; ) {
      if (text[at] === part[length]) {
        at++;
        if (++length === part.length) return at - length;
      } else if (length > 0) length = steps[length - 1];
      else at++;
    }
    return -1;
  };
  const isLong = (text, part) => typeof text === 'string' && typeof part === 'string' && part.length >= 32 && text.length * part.length >= most;
  const pieces = (text, part, limit) => {
    const found = [];
    let from = 0, count = 0;
    for (let at = find(text, part, 0); at >= 0 && count < limit; at = find(text, part, from)) {
      defineProperty(found, count++, { value: apply(slice, text, [from, at]), writable: true, enumerable: true, configurable: true });
      from = at + part.length;
    }
    if (count < limit) defineProperty(found, count, { value: apply(slice, text, [from]), writable: true, enumerable: true, configurable: true });
    return found;
  };
  const fill = (text, part, by, all) => {
    let made = '', from = 0;
    for (let at = find(text, part, 0); at >= 0; at = all ? find(text, part, from) : -1) {
      const filled = typeof by === 'function' ? StringOf(by(part, at, text)) : apply(replace, part, [part, by]);
      made += apply(slice, text, [from, at]) + filled;
      from = at + part.length;
    }
    return made + apply(slice, text, [from]);
  };
  const lastOf = (text, part) => {
    let last = -1;
    for (let at = find(text, part, 0); at >= 0; at = find(text, part, at + 1)) last = at;
    return last;
  };
  const start = (from, text) => min(max(from === undefined ? 0 : +from | 0, 0), text.length);
  const better = {
    indexOf(part, from) { return isLong(this, part) ? find(this, part, start(from, this)) : apply(indexOf, this, [part, from]); },
    includes(part, from) { return isLong(this, part) ? find(this, part, start(from, this)) >= 0 : apply(includes, this, [part, from]); },
    lastIndexOf(part, ...rest) { return isLong(this, part) && rest.length === 0 ? lastOf(this, part) : rest.length === 0 ? apply(lastIndexOf, this, [part]) : apply(lastIndexOf, isLong(this, part) ? '' : this, [part, rest[0]]); },
    split(part, limit) { return isLong(this, part) ? pieces(this, part, limit === undefined ? 4294967295 : limit >>> 0) : apply(split, this, [part, limit]); },
    replace(part, by) { return isLong(this, part) ? fill(this, part, typeof by === 'function' ? by : StringOf(by), false) : apply(replace, this, [part, by]); },
    replaceAll(part, by) { return isLong(this, part) ? fill(this, part, typeof by === 'function' ? by : StringOf(by), true) : apply(replaceAll, this, [part, by]); },
  };
  for (const name of Object.keys(better))
    defineProperty(String.prototype, name, { value: better[name], writable: true, enumerable: false, configurable: true });

  const waiting = create(null);
  let calls = 0;
  const toolOf = (name) => (input) => new PromiseOfGuest((resolve) => {
    const text = input === undefined ? '{}' : stringify(input);
    if (text === undefined) throw new TypeErrorOfGuest('the arguments of tools.' + name + ' must be an object of plain data');
    waiting[++calls] = resolve;
    hostCall(calls, name, text);
  });

  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return StringOf(value);
    try {
      return (value instanceof Error ? StringOf(value) : stringify(value)) ?? StringOf(value);
    } catch {
      return '[cannot be shown]';
    }
  };
  const print = (...values) => {
    let line = '';
    for (let index = 0; index < values.length; index++) line += (index === 0 ? '' : ' ') + shown(values[index]);
    hostPrint(apply(slice, line, [0, 20000]));
  };

  // sfc32
  const seeded = ([a, b, c, d]) => function random() {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return (sum >>> 0) / 4294967296;
  };

  const begin = (names, args, seed) => {
    const tools = create(null);
    const list = parse(names);
    for (let index = 0; index < list.length; index++)
      defineProperty(tools, list[index], { value: toolOf(list[index]), writable: true, enumerable: true, configurable: true });
    MathOf.random = seeded(parse(seed));
    const consoleOfGuest = { log: print, info: print, warn: print, error: print, debug: print };
    const globals = { tools, args: parse(args), console: consoleOfGuest };
    for (const name of ['tools', 'args', 'console'])
      defineProperty(globalThis, name, { value: globals[name], writable: true, enumerable: false, configurable: true });
  };
  const deliver = (id, answer) => {
    const resolve = waiting[id];
    delete waiting[id];
    resolve(parse(answer));
  };
  const finish = (value) => {
    if (value === undefined) return 'null';
    const kind = typeof value;
    if (kind === 'function' || kind === 'symbol' || kind === 'bigint') throw new TypeErrorOfGuest('the code returned a ' + kind + '; return plain data');
    return stringify(value) ?? 'null';
  };
  const part = (value, length) => apply(slice, StringOf(value), [0, length]);
  const fail = (error) => {
    try {
      if (typeof error !== 'object' || error === null) return stringify(['', part(error, 2000), '']);
      const { name, message, stack } = error;
      return stringify([name === undefined ? '' : part(name, 100), message === undefined ? part(shown(error), 2000) : part(message, 2000), typeof stack === 'string' ? part(stack, 2000) : '']);
    } catch {
      return '["","it threw something that cannot be read",""]';
    }
  };
  return [begin, deliver, finish, fail];
})`;
