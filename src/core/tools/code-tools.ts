/**
 * Tools that code defines, across builds: which tools a build has, tools that a later build does not have any more, and arguments that a later
 * build has renamed. Toolsets are compiled again when the build changes (`objects/catalog/toolsets/compiled-build.ts`).
 */
import { sha256HexSync } from '../hash.ts';
import { memoizeByObject } from '../memoize.ts';
import { CanonicalName } from '../names/names.ts';
import type { Issue } from '../problem.ts';
import type { ToolDefinition } from './tool.ts';

/**
 * Identifies the tools of a build, with all that editions contain of them: 16 hexadecimal digits, the same for every build with the same tools.
 * Making all schemas takes tens of milliseconds, once for each function.
 */
export const buildOf = memoizeByObject((definitions: () => readonly ToolDefinition[]): string =>
  sha256HexSync(new TextEncoder().encode(JSON.stringify(definitions()))).slice(0, 16),
);

/** The definition of a tool that is gone and still named. Its server has the name of its kind. */
export function toMissing(kind: 'builtin' | 'local' | 'made' | 'ui', canonical: string): ToolDefinition {
  return {
    canonical: CanonicalName.parse(canonical),
    server: kind,
    name: canonical.slice(kind.length + 1),
    kind,
    description: '',
    inputSchema: { type: 'object' },
    aliases: [],
    source: { state: 'missing', trusted: false, pin: '' },
  };
}

/**
 * Returns the arguments under their current names. An argument that is given under both names keeps the current one, and is an issue: neither
 * value can be chosen. `isKept`: names that mean something else here.
 */
export function withCurrentNames(
  renamed: Readonly<Record<string, string>> | undefined,
  args: Record<string, unknown>,
  isKept: (name: string) => boolean = () => false,
): { args: Record<string, unknown>; issues: Issue[] } {
  const earlier = Object.keys(renamed ?? {}).filter((name) => Object.hasOwn(args, name) && !isKept(name));
  if (renamed === undefined || earlier.length === 0) return { args, issues: [] };
  const current = (name: string): string => (earlier.includes(name) ? (renamed[name] ?? name) : name);
  const twice = earlier.filter((name) => Object.hasOwn(args, current(name)));
  const issues = twice.map((path) => ({ path, message: `is the earlier name of ${current(path)}, which is given too; give one of them` }));
  const kept = Object.entries(args).filter(([name]) => !twice.includes(name));
  return { args: Object.fromEntries(kept.map(([name, value]) => [current(name), value])), issues };
}
