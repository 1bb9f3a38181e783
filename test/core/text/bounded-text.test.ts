import { describe, expect, it } from 'vitest';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { boundedText } from '../../../src/core/text/bounded-text.ts';

describe('a text limited in bytes', () => {
  it('counts UTF-8 bytes, not characters', () => {
    const text = boundedText(6);
    expect(text.safeParse('sixsix').success).toBe(true);
    expect(text.safeParse('ééé').success).toBe(true);
    expect(text.safeParse('éééé').error?.issues).toMatchObject([{ message: 'must be at most 6 bytes' }]);
    expect(text.min(1).safeParse('').success).toBe(false);
  });

  it('limits the notes of a toolset', () => {
    const toolset = (note: string) => ({ tools: [{ tool: 'builtin.bash', aliases: [{ name: 'shell', note }] }] });
    expect(Toolset.safeParse(toolset('n'.repeat(500))).success).toBe(true);
    expect(Toolset.safeParse(toolset('é'.repeat(400))).success).toBe(false);
  });
});
