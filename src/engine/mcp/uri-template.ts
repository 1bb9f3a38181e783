/**
 * Matches a URI against a URI template (RFC 6570) to find its server. Expands nothing; the server does that. An expression matches any text,
 * within one segment unless it is reserved (`{+path}`, `{#fragment}`) or a query. Linear in the URI for each part of the template, without
 * building a regular expression from untrusted text.
 */

export function matchesTemplate(template: string, uri: string): boolean {
  const parts = partsOf(template);
  const first = parts[0];
  if (first === undefined || parts.length > maxParts) return false;
  if (!uri.startsWith(first.literal)) return false;
  let at = first.literal.length;
  let crosses = first.crosses;
  for (const [index, part] of parts.slice(1).entries()) {
    const isLast = index === parts.length - 2;
    // The last literal must be at the end of the URI.
    const found = isLast && part.crosses === null ? endOf(uri, part.literal, at) : uri.indexOf(part.literal, at);
    if (found === -1 || (crosses === false && uri.slice(at, found).includes('/'))) return false;
    at = found + part.literal.length;
    crosses = part.crosses;
  }
  if (crosses === null) return at === uri.length;
  return crosses || !uri.slice(at).includes('/');
}

/** Returns the text before the first expression. */
export function literalStart(template: string): string {
  return partsOf(template)[0]?.literal ?? '';
}

const maxParts = 64;

/** A literal and the expression after it: `crosses` says whether it may match a slash; null: no expression, the template ends. */
type Part = { literal: string; crosses: boolean | null };

/** `a{b}c` becomes `a` with an expression after it, then `c` without one. */
function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let rest = template;
  for (;;) {
    const open = rest.indexOf('{');
    const close = rest.indexOf('}', open);
    if (open === -1 || close === -1) return [...parts, { literal: rest, crosses: null }];
    parts.push({ literal: rest.slice(0, open), crosses: /^[+#/?&]/.test(rest.slice(open + 1, close)) });
    rest = rest.slice(close + 1);
  }
}

function endOf(uri: string, literal: string, from: number): number {
  const start = uri.length - literal.length;
  return start >= from && uri.endsWith(literal) ? start : -1;
}
