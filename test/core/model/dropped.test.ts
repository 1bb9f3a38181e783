/** What a request asked for and its provider is not sent. */
import { describe, expect, it } from 'vitest';
import { createDropped, droppedHeaders } from '../../../src/core/model/dropped.ts';

describe('what is left out of a request', () => {
  it('is listed once per name, with the first reason, in the order reported', () => {
    const dropped = createDropped();
    dropped.add('stop', 'first');
    dropped.add('seed');
    dropped.add('stop', 'second');
    expect(dropped.items()).toEqual([{ name: 'stop', reason: 'first' }, { name: 'seed' }]);
  });

  it("names settings as the client's dialect does", () => {
    const dropped = createDropped({ topK: 'top_k' });
    dropped.setting('topK');
    dropped.setting('seed');
    expect(dropped.items().map(({ name }) => name)).toEqual(['top_k', 'seed']);
  });

  it('is bounded, and says how much more there is', () => {
    const dropped = createDropped();
    for (let index = 0; index < 60; index += 1) dropped.add(`field_${index}`);
    dropped.add('x'.repeat(500));
    expect(dropped.items()).toHaveLength(51);
    expect(dropped.items().at(-1)).toEqual({ name: 'and 11 more' });
  });

  it('is a header that no name can break', () => {
    const dropped = createDropped();
    dropped.add('stop');
    dropped.add('a\r\nset-cookie: x, y');
    dropped.add('größe');
    const headers = droppedHeaders(dropped.items());
    expect(new Headers(headers).get('x-moniker-dropped')).toBe('stop, a%0D%0Aset-cookie: x%2C y, gr%C3%B6%C3%9Fe');
    expect(droppedHeaders([])).toEqual({});
  });
});
