/**
 * What is put in the place of functions of the language that this engine (QuickJS-ng 0.x in `quickjs-wasi` 3.6.2) runs for hours in one step,
 * which nothing can interrupt: `new Array(2 ** 32 - 1).join()`, the search for one long text in another, the normal form of a long row of
 * accents. Each was found by running it; those that ask on their way (`indexOf`, `map`, patterns) are left alone. Text, as in `guest.ts`,
 * which it runs before. What is no longer done says so with an error.
 */
export const fenceSource = `(function () {
  'use strict';
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const { isArray } = Array;
  const { parse, stringify } = JSON;
  const apply = Reflect.apply;
  const RangeErrorOfGuest = RangeError, TypeErrorOfGuest = TypeError, StringOf = String, Uint32 = Uint32Array;
  const hasOwn = Object.hasOwn, keysOf = Object.keys;
  const put = (target, key, value) => defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  const replaceAll = (target, functions) => {
    for (const name of keysOf(functions)) defineProperty(target, name, { value: functions[name], writable: true, enumerable: false, configurable: true });
  };

  // More places than there is memory for: nearly all are empty, and the engine visits each.
  const mostItems = 2097152;
  const checkLength = (value) => {
    const length = getOwnPropertyDescriptor(Object(value), 'length')?.value;
    if (typeof length !== 'number') throw new TypeErrorOfGuest('array functions work on arrays here');
    if (length > mostItems) throw new RangeErrorOfGuest('the array has more than ' + mostItems + ' places');
  };
  const arrays = Array.prototype;
  const guarded = {};
  for (const name of ['reverse', 'slice', 'fill', 'splice', 'shift', 'unshift', 'sort', 'copyWithin', 'join', 'toLocaleString', 'toReversed', 'toSorted', 'toSpliced', 'with']) {
    const native = arrays[name];
    guarded[name] = { [name](...rest) { checkLength(this); return apply(native, this, rest); } }[name];
  }
  const { concat, map } = arrays;
  const flatten = (into, count, list, depth) => {
    checkLength(list);
    for (let index = 0; index < list.length; index++) {
      if (!(index in list)) continue;
      const item = list[index];
      if (depth > 0 && isArray(item)) count = flatten(into, count, item, depth - 1);
      else put(into, count++, item);
    }
    return count;
  };
  const flat = (list, depth) => {
    const into = [];
    flatten(into, 0, list, depth);
    return into;
  };
  replaceAll(arrays, {
    ...guarded,
    concat(...others) {
      checkLength(this);
      for (let index = 0; index < others.length; index++) {
        if (isArray(others[index])) checkLength(others[index]);
        else others[index] = [others[index]];
      }
      return apply(concat, this, others);
    },
    flat(depth) { return flat(this, depth === undefined ? 1 : +depth || 0); },
    flatMap(change, self) { checkLength(this); return flat(apply(map, this, [change, self]), 1); },
  });

  const drop = Iterator.prototype.drop;
  replaceAll(Iterator.prototype, {
    drop(count) {
      const whole = +count;
      if (whole > mostItems) throw new RangeErrorOfGuest('more than ' + mostItems + ' cannot be dropped');
      return apply(drop, this, [whole]);
    },
  });

  const SetOf = Set, sizeOf = getOwnPropertyDescriptor(Set.prototype, 'size').get;
  const { has, keys } = Set.prototype;
  const sets = {};
  for (const name of ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']) {
    const native = Set.prototype[name];
    sets[name] = { [name](other) {
      const copy = new SetOf(other);
      put(copy, 'size', apply(sizeOf, copy, []));
      put(copy, 'has', has);
      put(copy, 'keys', keys);
      return apply(native, this, [copy]);
    } }[name];
  }
  replaceAll(Set.prototype, sets);

  // As JSON.parse says (ECMA-262 25.5.1.1), in steps of the code.
  const revive = (holder, key, reviver) => {
    const value = holder[key];
    if (typeof value === 'object' && value !== null) {
      if (isArray(value)) checkLength(value);
      const names = isArray(value) ? null : keysOf(value);
      const count = names === null ? value.length : names.length;
      for (let index = 0; index < count; index++) {
        const name = names === null ? StringOf(index) : names[index];
        const revived = revive(value, name, reviver);
        if (revived === undefined) delete value[name];
        else put(value, name, revived);
      }
    }
    return apply(reviver, holder, [key, value]);
  };
  replaceAll(JSON, {
    parse(text, reviver) {
      const value = parse(text);
      return typeof reviver === 'function' ? revive({ '': value }, '', reviver) : value;
    },
    stringify(value, replacer, space) {
      if (isArray(replacer)) checkLength(replacer);
      return stringify(value, replacer, space);
    },
  });

  const mostNormalized = 10000;
  const { normalize, localeCompare, slice, indexOf, lastIndexOf, includes, split, replace, replaceAll: replaceEvery, startsWith } = String.prototype;

  // Where the engine's own search would try a long text at every place: candidates by their beginning, and where there are too many, KMP.
  const isLong = (text, part) => typeof text === 'string' && typeof part === 'string' && part.length >= 8 && text.length * part.length >= 1000000;
  const find = (text, part, from) => {
    const beginning = apply(slice, part, [0, 8]);
    let budget = text.length * 4 + 100000;
    for (let at = apply(indexOf, text, [beginning, from]); at >= 0; at = apply(indexOf, text, [beginning, at + 1])) {
      if (apply(startsWith, text, [part, at])) return at;
      budget -= part.length;
      if (budget < 0) return findInSteps(text, part, at + 1);
    }
    return -1;
  };
  const findInSteps = (text, part, from) => {
    const back = new Uint32(part.length);
    for (let at = 1, length = 0; at < part.length; ) {
      if (part[at] === part[length]) back[at++] = ++length;
      else if (length > 0) length = back[length - 1];
      else back[at++] = 0;
    }
    for (let at = from, length = 0; at < text.length; ) {
      if (text[at] === part[length]) {
        at++;
        if (++length === part.length) return at - length;
      } else if (length > 0) length = back[length - 1];
      else at++;
    }
    return -1;
  };
  const findLast = (text, part, upTo) => {
    let last = -1;
    for (let at = find(text, part, 0); at >= 0 && at <= upTo; at = find(text, part, at + 1)) last = at;
    return last;
  };
  const pieces = (text, part, most) => {
    const found = [];
    let from = 0, count = 0;
    for (let at = find(text, part, 0); at >= 0 && count < most; at = find(text, part, from)) {
      put(found, count++, apply(slice, text, [from, at]));
      from = at + part.length;
    }
    if (count < most) put(found, count, apply(slice, text, [from]));
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
  const place = (from, text) => (from > 0 ? (from < text.length ? from - (from % 1) : text.length) : 0);
  const checkNormal = (text) => {
    if (text.length > mostNormalized) throw new RangeErrorOfGuest('more than ' + mostNormalized + ' characters are not normalized at once; do it in pieces');
  };
  replaceAll(String.prototype, {
    indexOf(part, from) { return isLong(this, part) ? find(this, part, place(+from, this)) : apply(indexOf, this, [part, from]); },
    includes(part, from) { return isLong(this, part) ? find(this, part, place(+from, this)) >= 0 : apply(includes, this, [part, from]); },
    lastIndexOf(part, from) { return isLong(this, part) ? findLast(this, part, from === undefined ? this.length : place(+from, this)) : apply(lastIndexOf, this, from === undefined ? [part] : [part, from]); },
    split(part, most) { return isLong(this, part) ? pieces(this, part, most === undefined ? 4294967295 : most >>> 0) : apply(split, this, [part, most]); },
    replace(part, by) { return isLong(this, part) ? fill(this, part, typeof by === 'function' ? by : StringOf(by), false) : apply(replace, this, [part, by]); },
    replaceAll(part, by) { return isLong(this, part) ? fill(this, part, typeof by === 'function' ? by : StringOf(by), true) : apply(replaceEvery, this, [part, by]); },
    normalize(form) { const text = StringOf(this); checkNormal(text); return apply(normalize, text, form === undefined ? [] : [form]); },
    localeCompare(other) { const text = StringOf(this), with_ = StringOf(other); checkNormal(text); checkNormal(with_); return apply(localeCompare, text, [with_]); },
  });
  replaceAll(String, {
    raw(strings, ...values) {
      const { raw } = strings;
      checkLength(raw);
      let made = '';
      for (let index = 0; index < raw.length; index++) made += StringOf(raw[index]) + (index + 1 < raw.length && index < values.length ? StringOf(values[index]) : '');
      return made;
    },
  });

  // Numbers whose printing takes seconds, and which JSON has no word for; memory that is shared; clocks; code from text.
  for (const name of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'performance', 'eval', 'Function']) delete globalThis[name];
  for (const name of ['getBigInt64', 'getBigUint64', 'setBigInt64', 'setBigUint64']) delete DataView.prototype[name];
})`;
