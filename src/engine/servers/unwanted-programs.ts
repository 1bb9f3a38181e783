/**
 * Finds the programs of the launcher that are to end: of servers that were deleted or run something else, also because a secret or the
 * workspace was changed or deleted.
 */
import type { Program } from '../../core/servers/stdio.ts';

/** `keys`: of the programs that these servers run now; none for a server without a command. Both ask the storage, not a cache. */
export type ProgramDeps = {
  isActive(workspace: string): Promise<boolean>;
  keys(workspace: string, servers: readonly string[]): Promise<Readonly<Record<string, string>>>;
};

/** Returns their keys. Rejects if it cannot be found out now. */
export async function findUnwantedPrograms({ isActive, keys }: ProgramDeps, programs: readonly Program[]): Promise<string[]> {
  const unwanted = await Promise.all(
    Array.from(
      Map.groupBy(programs, ({ workspace }) => workspace),
      async ([workspace, own]) => {
        const current = (await isActive(workspace)) ? await keys(workspace, [...new Set(own.map(({ server }) => server))]) : {};
        return own.filter(({ server, key }) => current[server] !== key);
      },
    ),
  );
  return unwanted.flat().map(({ key }) => key);
}
