/** The tool `calculate`: arithmetic with a small parser; the expression is never evaluated as code. */
import * as z from 'zod';
import { defineTool, ToolFault } from './define-tool.ts';

export const calculate = defineTool({
  name: 'calculate',
  description:
    'Computes an arithmetic expression: + - * / % ^, parentheses, pi, e, and sqrt, abs, round, floor, ceil, ln, log10, exp, sin, cos, tan, min, max.',
  input: z.object({ expression: z.string().min(1).max(1000).describe('For example (3 + 4) * sqrt(2)') }),
  annotations: { title: 'Calculate', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  usesFiles: false,
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
  ...(['sqrt', 'abs', 'round', 'floor', 'ceil', 'log10', 'exp', 'sin', 'cos', 'tan', 'min', 'max'] as const).map(
    (name) => [name, Math[name]] as const,
  ),
  ['ln', Math.log],
]);

/** Each binary operator with its level: a higher one binds tighter. */
const operators = new Map<string, [level: number, apply: (left: number, right: number) => number]>([
  ['+', [1, (left, right) => left + right]],
  ['-', [1, (left, right) => left - right]],
  ['*', [2, (left, right) => left * right]],
  ['/', [2, (left, right) => left / right]],
  ['%', [2, (left, right) => left % right]],
  ['^', [3, (left, right) => left ** right]],
]);
const powerLevel = 3;

/** Nesting of brackets, signs and powers; the length of the expression bounds the rest. */
const maxDepth = 100;

/** Precedence climbing. Throws a `ToolFault` that quotes the first token that cannot be read. */
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

  /** Operators of at least this level. `^` is right associative; the others are left associative. */
  function read(level: number): number {
    depth += 1;
    if (depth > maxDepth) throw new ToolFault('The expression is nested too deeply.');
    let value = operand();
    for (;;) {
      const [next, apply] = operators.get(tokens[index] ?? '') ?? [0];
      if (apply === undefined || next < level) break;
      index += 1;
      value = apply(value, read(next === powerLevel ? next : next + 1));
    }
    depth -= 1;
    return value;
  }

  function operand(): number {
    // A sign binds less tightly than a power: -2^2 is -4.
    if (accept('-')) return -read(powerLevel);
    if (accept('+')) return read(powerLevel);
    if (accept('(')) {
      const value = read(1);
      expect(')');
      return value;
    }
    const token = tokens[index]?.toLowerCase() ?? '';
    const constant = constants.get(token) ?? (/^[\d.]/.test(token) ? Number(token) : undefined);
    const apply = functions.get(token);
    if (constant === undefined && apply === undefined) throw fault();
    index += 1;
    if (apply === undefined) return constant ?? Number.NaN;
    expect('(');
    const values = [read(1)];
    while (accept(',')) values.push(read(1));
    expect(')');
    return apply(...values);
  }

  const value = read(1);
  if (index < tokens.length) throw fault();
  return value;
}

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  // Sticky: each match starts where the last one ended, so any other character is an error.
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
