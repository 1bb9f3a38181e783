/** `npm run dev`: calls `reload` after a source file has changed. A failed build is reported, and the previous one keeps running. */
import { readdirSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { projectRoot } from './environment.ts';
import { printError } from '../printing.ts';
import { StartFailure } from './start-failure.ts';

/** Editors and checkouts write several files at the same time. */
const settleMs = 100;

/** Returns a function that stops watching. */
export function reloadOnChange(reload: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();
  let watchers: FSWatcher[] = [];
  const stop = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  const start = (): void => {
    stop();
    watchers = sourceFolders().map((folder) =>
      watch(folder, () => {
        clearTimeout(timer);
        timer = setTimeout(run, settleMs);
      }),
    );
  };
  const run = (): void => {
    start(); // The change may have been a new folder.
    last = last.then(reload).catch((error: unknown) => printError(error instanceof StartFailure ? error.message : inspect(error)));
  };
  start();
  return stop;
}

/** Folders are watched one by one: Node's recursive watcher on Linux loses a file that an editor replaces. */
function sourceFolders(): string[] {
  const root = join(projectRoot, 'src');
  const folders = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [root, ...folders.map(({ parentPath, name }) => join(parentPath, name))];
}
