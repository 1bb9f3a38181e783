/** Arithmetic by a small parser, never by evaluating text as code. */
import { z } from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';

export const calculate = defineTool({
  name: 'calculate',
  description:
    'Computes an arithmetic expression: + - * / % ^, brackets, pi, e, and sqrt, abs, round, floor, ceil, ln, log10, exp, sin, cos, tan, min, max.',
  input: z.object({ expression: z.string().min(1).max(1000).describe('Such as (3 + 4) * sqrt(2)') }),
  annotations: { title: 'Calculate', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ expression }) {
    const value = evaluate(expression);
    if (!Number.isFinite(value)) throw new ToolFault(`${expression} has no finite value (division by zero, or too large).`);
    return { expression, value };
  },
});

const constants = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
]);

const functions = new Map<string, (...values: number[]) => number>([
  ['sqrt', Math.sqrt],
  ['abs', Math.abs],
  ['round', Math.round],
  ['floor', Math.floor],
  ['ceil', Math.ceil],
  ['ln', Math.log],
  ['log10', Math.log10],
  ['exp', Math.exp],
  ['sin', Math.sin],
  ['cos', Math.cos],
  ['tan', Math.tan],
  ['min', Math.min],
  ['max', Math.max],
]);

/** Brackets within brackets; the expression's length bounds the rest. */
const maxDepth = 100;

/** Recursive descent, one function a level of precedence. Throws `ToolFault` that names the place. */
function evaluate(expression: string): number {
  const tokens = tokenize(expression);
  let index = 0;
  let depth = 0;

  const accept = (token: string): boolean => {
    if (tokens[index] !== token) return false;
    index += 1;
    return true;
  };
  const fault = (): ToolFault =>
    new ToolFault(`Cannot read the expression at ${index < tokens.length ? `"${tokens[index]}"` : 'its end'}.`);
  const expect = (token: string): void => {
    if (!accept(token)) throw fault();
  };

  function sum(): number {
    let value = product();
    for (;;) {
      if (accept('+')) value += product();
      else if (accept('-')) value -= product();
      else return value;
    }
  }

  function product(): number {
    let value = signed();
    for (;;) {
      if (accept('*')) value *= signed();
      else if (accept('/')) value /= signed();
      else if (accept('%')) value %= signed();
      else return value;
    }
  }

  function signed(): number {
    depth += 1;
    if (depth > maxDepth) throw new ToolFault('The expression is nested too deeply.');
    const value = accept('-') ? -signed() : accept('+') ? signed() : power();
    depth -= 1;
    return value;
  }

  /** Right associative, and above the sign: -2^2 is -4. */
  function power(): number {
    const base = atom();
    return accept('^') ? base ** signed() : base;
  }

  function atom(): number {
    if (accept('(')) {
      const value = sum();
      expect(')');
      return value;
    }
    const token = tokens[index] ?? '';
    const constant = constants.get(token.toLowerCase()) ?? (/^[\d.]/.test(token) ? Number(token) : undefined);
    if (constant !== undefined) {
      index += 1;
      return constant;
    }
    const apply = functions.get(token.toLowerCase());
    if (apply === undefined) throw fault();
    index += 1;
    expect('(');
    const values = [sum()];
    while (accept(',')) values.push(sum());
    expect(')');
    return apply(...values);
  }

  const value = sum();
  if (index < tokens.length) throw fault();
  return value;
}

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  // Sticky: each match starts where the last one ended, so a gap is a character that means nothing here.
  const pattern = /\s*(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[a-z][a-z0-9]*|\*\*|[-+*/%^(),])/giy;
  const text = expression.trimEnd();
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    const token = pattern.exec(text)?.[1];
    if (token === undefined) throw new ToolFault(`Cannot read the expression at "${text.slice(start, start + 10)}".`);
    tokens.push(token === '**' ? '^' : token);
  }
  return tokens;
}
