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
  const { create, defineProperty, setPrototypeOf } = Object;
  const PromiseOfGuest = Promise, TypeErrorOfGuest = TypeError, StringOf = String, MathOf = Math;
  const apply = Reflect.apply;
  const { indexOf, slice } = String.prototype;

  // Numbers that JSON cannot hold; shared memory; clocks; code from text.
  for (const name of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'performance', 'eval', 'Function']) delete globalThis[name];
  for (const name of ['getBigInt64', 'getBigUint64', 'setBigInt64', 'setBigUint64']) delete DataView.prototype[name];

  // A call that nobody awaited, taken for its answer: the slip that is made most often.
  const unanswered = create(PromiseOfGuest.prototype);
  const tooEarly = () => { throw new TypeErrorOfGuest('the answer of a tool was read before it had come: write await in front of the call'); };
  for (const key of ['success', 'output', 'error', 'code', 'structured'])
    defineProperty(unanswered, key, { get: tooEarly, set: undefined, enumerable: false, configurable: false });
  defineProperty(unanswered, 'toJSON', { value: tooEarly, writable: false, enumerable: false, configurable: false });

  const waiting = create(null);
  let calls = 0;
  const toolOf = (name) => (input) => setPrototypeOf(new PromiseOfGuest((resolve) => {
    const text = input === undefined ? '{}' : stringify(input);
    if (text === undefined) throw new TypeErrorOfGuest('the arguments of tools.' + name + ' must be an object of plain data');
    waiting[++calls] = resolve;
    hostCall(calls, name, text);
  }), unanswered);

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

  // A canonical name as it is read in JavaScript: tools.builtin.read_file. A tool that is called as its server is stays what it is.
  const add = (tools, server, name, call) => {
    if (tools[server] === undefined) defineProperty(tools, server, { value: create(null), writable: true, enumerable: false, configurable: true });
    if (typeof tools[server] === 'object') defineProperty(tools[server], name, { value: call, writable: true, enumerable: true, configurable: true });
  };
  const begin = (names, args, seed) => {
    const tools = create(null);
    const list = parse(names);
    for (let index = 0; index < list.length; index++) {
      const name = list[index], call = toolOf(name), dot = apply(indexOf, name, ['.']);
      defineProperty(tools, name, { value: call, writable: true, enumerable: true, configurable: true });
      if (dot > 0) add(tools, apply(slice, name, [0, dot]), apply(slice, name, [dot + 1]), call);
    }
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
