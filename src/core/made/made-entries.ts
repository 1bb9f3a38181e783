/** Compiles the code of the made tools among a toolset's entries. A tool with several entries is compiled once. */
import type { MadeCode } from '../toolset/edition-tool.ts';
import type { KnownTools } from '../toolset/known-tools.ts';
import type { MadeSource } from './made-tool.ts';
import type { NamedEntry } from '../toolset/named-entry.ts';
import { createMadeCompiler } from './compile-made.ts';

/** `bytes`: the total size as JSON, as in the edition. */
export async function compileMadeEntries(
  entries: readonly NamedEntry[],
  known: Pick<KnownTools, 'get'>,
): Promise<{ codes: ReadonlyMap<NamedEntry, MadeCode>; bytes: number }> {
  const compiler = createMadeCompiler(known);
  const compiled = new Map<MadeSource, ReturnType<typeof compiler.compile>>();
  const codes = new Map<NamedEntry, MadeCode>();
  let bytes = 0;
  for (const entry of entries) {
    const source = entry.definition?.made;
    if (source === undefined) continue;
    const underWay = compiled.get(source) ?? compiler.compile(source);
    compiled.set(source, underWay);
    const one = await underWay;
    codes.set(entry, one.made);
    bytes += one.bytes;
  }
  return { codes, bytes };
}
