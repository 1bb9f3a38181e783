/**
 * The prelude that runs in a machine before the guest's code, as text: it runs inside, so the guest can never hold an object of the
 * host. It saves the built-ins that it needs before the guest can replace them, defines `tools`, `args` and `console`, and returns the
 * functions with which the host continues. Only strings and numbers cross the boundary. Compiled by `engine.ts`.
 */

/**
 * Evaluates to a function that takes the two host functions and returns `[begin, deliver, finish, fail]`:
 * - `begin(names, args, seed)`: defines the globals; all three arguments are JSON.
 * - `deliver(id, answer)`: settles the call `id` with the JSON of its answer.
 * - `finish(value)`: returns the JSON of the code's return value, or throws with the reason why it has none. If the value is the result
 *   of a call, `@`, the id of the call, a line break and the JSON.
 * - `fail(error)`: returns JSON of `[name, message, stack]` for any thrown value.
 */
export const sandboxPrelude = `(function (hostCall, hostPrint) {
  'use strict';
  const { parse, stringify } = JSON;
  const { create, defineProperty, setPrototypeOf } = Object;
  const PromiseOfGuest = Promise, TypeErrorOfGuest = TypeError, StringOf = String, MathOf = Math;
  const apply = Reflect.apply;
  const { indexOf, slice } = String.prototype;

  // Removed: numbers that JSON cannot hold, shared memory, clocks, code from text.
  for (const name of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'performance', 'eval', 'Function']) delete globalThis[name];
  for (const name of ['getBigInt64', 'getBigUint64', 'setBigInt64', 'setBigUint64']) delete DataView.prototype[name];

  // A call without await, used like its result: the most common mistake.
  const unanswered = create(PromiseOfGuest.prototype);
  const tooEarly = () => { throw new TypeErrorOfGuest('the result of a tool was read before it arrived: write await in front of the call'); };
  for (const key of ['success', 'output', 'error', 'code', 'structured'])
    defineProperty(unanswered, key, { get: tooEarly, set: undefined, enumerable: false, configurable: false });
  defineProperty(unanswered, 'toJSON', { value: tooEarly, writable: false, enumerable: false, configurable: false });

  // The id of the call that each result belongs to.
  const results = new WeakMap(), { get: resultGet, set: resultSet } = WeakMap.prototype;
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

  // Makes a canonical name readable in JavaScript: tools.builtin.read_file. A tool with the name of a server is not replaced.
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
    const result = parse(answer);
    apply(resultSet, results, [result, id]);
    resolve(result);
  };
  const finish = (value) => {
    if (value === undefined) return 'null';
    const kind = typeof value;
    if (kind === 'function' || kind === 'symbol' || kind === 'bigint') throw new TypeErrorOfGuest('the code returned a ' + kind + '; return plain data');
    const text = stringify(value) ?? 'null', id = kind === 'object' && value !== null ? apply(resultGet, results, [value]) : undefined;
    return id === undefined ? text : '@' + id + '\\n' + text;
  };
  const part = (value, length) => apply(slice, StringOf(value), [0, length]);
  const fail = (error) => {
    try {
      if (typeof error !== 'object' || error === null) return stringify(['', part(error, 2000), '']);
      const { name, message, stack } = error;
      return stringify([name === undefined ? '' : part(name, 100), message === undefined ? part(shown(error), 2000) : part(message, 2000), typeof stack === 'string' ? part(stack, 2000) : '']);
    } catch {
      return '["","the code threw something that cannot be read",""]';
    }
  };
  return [begin, deliver, finish, fail];
})`;
