/**
 * Whether JSON without a mark of its own may be a call of a tool, as early as that can be known: other JSON is then passed on while it
 * arrives. Used by `call-block.ts`.
 */
import type { CallableTools } from './written-calls.ts';

type Answer = 'yes' | 'no' | 'perhaps';

/** `text` begins with the first bracket. */
export function mayBeCall(text: string, { isTool }: CallableTools): Answer {
  const python = /^\[\s*([A-Za-z_][\w.]*)?(\()?/.exec(text);
  if (python?.[1] !== undefined) {
    if (python[2] !== undefined) return isTool(python[1]) ? 'yes' : 'no';
    return python[0].length === text.length ? 'perhaps' : 'no';
  }
  const [first = '', ...rest] = (text.match(/"(?:[^"\\]|\\[\s\S])*"?|[^\s"]/g) ?? []).filter((token, at) => at > 0 || token !== '[');
  const isValue = (token: string): Answer => (token === '{' || token.startsWith('"') ? 'yes' : 'no');
  const isName = (token: string): Answer => {
    if (!isWhole(token)) return 'perhaps';
    return isTool(token.slice(1, -1)) ? 'yes' : 'no';
  };
  const given = [isOne('"arguments"', '"parameters"'), isOne(':'), isValue];
  const steps =
    rest[0] === '"name"'
      ? [isOne('"name"'), isOne(':'), isName, isOne(','), ...given]
      : [isOne('"name"', '"arguments"', '"parameters"'), ...given.slice(1)];
  for (const [at, step] of [isOne('{'), ...steps].entries()) {
    const token = at === 0 ? first : rest[at - 1];
    const answer = token === undefined || token === '' ? 'perhaps' : step(token);
    if (answer !== 'yes') return answer;
  }
  return 'yes';
}

/** A token at the end of the text may still grow. */
function isOne(...tokens: readonly string[]): (token: string) => Answer {
  return (token) => {
    if (tokens.includes(token)) return 'yes';
    return !isWhole(token) && tokens.some((wanted) => wanted.startsWith(token)) ? 'perhaps' : 'no';
  };
}

function isWhole(token: string): boolean {
  return !token.startsWith('"') || (token.length > 1 && token.endsWith('"'));
}
