/** Reads a skill's files from a zip archive: `SKILL.md` at the top, or in the only folder there. */
import { toBase64 } from '../core/text/bytes.ts';
import { limits } from '../core/limits/limits.ts';
import { invalidRequest, type Issue, quoted } from '../core/problem.ts';
import { skillFile, isStray, skillPathFault, toPlainText } from '../core/skills/skill.ts';
import { readZipDirectory, unpackEntry, type ZipEntry } from './read-zip.ts';
import { strayFileWarnings, type SkillFiles } from './read-skill.ts';

/** Throws `invalid_request` with the names of the faulty entries. */
export function readSkillZip(archive: Uint8Array): SkillFiles & { warnings: Issue[] } {
  const directory = readZipDirectory(archive, maxZipEntries);
  if (typeof directory === 'string') throw invalidRequest([{ path: '', message: `the archive ${directory}` }]);
  const { entries } = directory;
  const issues = [...directory.issues, ...nameIssues(entries)];
  if (issues.length > 0) throw refused(issues);
  const files = entries.filter(({ name, isDirectory }) => !isDirectory && !isStray(name));
  const stray = entries.filter(({ name, isDirectory }) => !isDirectory && isStray(name));
  const top = topFolder(files);
  const sizes = sizeIssues(files);
  if (sizes.length > 0) throw refused(sizes);
  let content: string | null = null;
  const resources: SkillFiles['resources'][number][] = [];
  for (const entry of files) {
    const bytes = unpackEntry(archive, entry);
    if (typeof bytes === 'string') throw refused([{ path: entry.name, message: bytes }]);
    const path = entry.name.slice(top.length);
    const text = toPlainText(bytes);
    if (path !== skillFile) resources.push({ path, ...(text === null ? { base64: toBase64(bytes) } : { text }) });
    else if (text === null) throw refused([{ path: entry.name, message: 'is not valid UTF-8 text' }]);
    else content = text;
  }
  if (content === null) throw new Error('readSkillZip: the top folder was chosen by its SKILL.md');
  return { content, resources, warnings: strayFileWarnings(stray.map(({ name }) => ({ path: name }))) };
}

/** Names in archives may have 64 kB each, so messages shorten them. */
function refused(found: readonly Issue[]) {
  const issues = found.map(({ path, message }) => ({ path: path.slice(0, limits.maxSkillPathBytes), message }));
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return invalidRequest(issues, `The archive was rejected: ${quoted(first?.path ?? '')} ${first?.message ?? ''}${more}.`);
}

function nameIssues(entries: readonly ZipEntry[]): Issue[] {
  const seen = new Set<string>();
  return entries.flatMap(({ name, isDirectory }) => {
    const path = isDirectory ? name.slice(0, -1) : name;
    const fault = seen.has(path) ? 'is in the archive twice' : skillPathFault(path);
    seen.add(path);
    return fault === null ? [] : [{ path: name, message: fault }];
  });
}

/** Returns '' if `SKILL.md` is at the top; the only folder with its slash if it is in that. */
function topFolder(files: readonly ZipEntry[]): string {
  if (files.some(({ name }) => name === skillFile)) return '';
  const tops = new Set(files.map(({ name }) => name.slice(0, name.indexOf('/') + 1)));
  const [top = ''] = tops;
  if (tops.size === 1 && files.some(({ name }) => name === top + skillFile)) return top;
  throw invalidRequest([{ path: skillFile, message: 'is not in the archive: it must be at the top, or in the only folder there' }]);
}

function sizeIssues(files: readonly ZipEntry[]): Issue[] {
  const large = files.flatMap(({ name, bytes }) =>
    bytes > limits.maxSkillFileBytes
      ? [{ path: name, message: `has ${bytes} bytes; a file of a skill may have at most ${limits.maxSkillFileBytes}` }]
      : [],
  );
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (large.length > 0 || total <= limits.maxSkillBytes) return large;
  return [{ path: '', message: `its files have ${total} bytes; a skill may have at most ${limits.maxSkillBytes}` }];
}

/** Entries of a skill's archive, including folders and skipped files. */
export const maxZipEntries = 1_000;
