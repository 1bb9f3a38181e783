/**
 * Applies the changes of `interpreter-patch.ts` to the installed just-bash, before each build and test. The published file is kept next to
 * the patched one, so that running it again, or with other changes, starts from the same text.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Edit, interpreterPatch } from '../../tools/shell/interpreter-patch.ts';
import { replaceFile } from '../launch/own-file.ts';
import { StartFailure } from '../launch/start-failure.ts';

type Patch = typeof interpreterPatch;

/** `folder`: where the package is installed. Returns whether the file changed. Throws `StartFailure` if the patch does not fit. */
export function applyPatch(folder: string, patch: Patch = interpreterPatch): boolean {
  const file = join(folder, patch.file);
  const original = `${file}.orig`;
  const installed = installedVersion(folder);
  if (installed !== patch.version) throw misfit(patch, `version ${installed ?? 'none'} is installed`);
  const current = readFileSync(file, 'utf8');
  const published = [current, existsSync(original) ? readFileSync(original, 'utf8') : ''].find((text) => sha256(text) === patch.sha256);
  if (published === undefined) throw misfit(patch, `${patch.file} is not the published file`);
  const patched = patch.edits.reduce((text, edit) => applyEdit(text, edit, patch), published);
  if (patched === current) return false;
  // By renaming: a package manager may have linked the file to a shared store.
  replaceFile(original, published);
  replaceFile(file, patched);
  return true;
}

function applyEdit(text: string, { what, find, times = 1, replace }: Edit, patch: Patch): string {
  const parts = text.split(find);
  if (parts.length !== times + 1) throw misfit(patch, `"${what}": its text occurs ${parts.length - 1} times instead of ${times}`);
  return parts.join(replace);
}

function misfit(patch: Patch, why: string): StartFailure {
  return new StartFailure(
    `The patch for ${patch.package} ${patch.version} (src/tools/shell/interpreter-patch.ts) does not apply: ${why}. Delete node_modules/${patch.package} and run npm install.`,
  );
}

function installedVersion(folder: string): string | null {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return null;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }).version ?? null;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
