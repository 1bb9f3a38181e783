/** The report of a listing for the administrator or the server that sent it. `apply-listing.ts` decides what happens to the tools. */
import type { Finding } from '../tools/hold.ts';
import { hasRejections } from '../servers/definition-review.ts';
import { isIndex, pointerTokens } from '../json/json-pointer.ts';
import { canonicalOf, holdOf, toolStateOf, type StoredTool } from './stored-tool.ts';
import { limits } from '../limits/limits.ts';
import { quote } from '../names/names.ts';
import { firstWarnings, invalidRequest, type Warning, issuePath } from '../problem.ts';
import type { ListingReport } from '../servers/server-tool.ts';
import type { ListingOutcome } from './apply-listing.ts';
import type { PinnedListing } from './pin-listing.ts';
import { holdTexts } from '../tools/hold.ts';

/** Throws `invalid_request` for a listing without a single named item. Like an empty listing, it would only remove the existing tools. */
export function requireNamedItems({ items, nameless }: Pick<PinnedListing, 'items' | 'nameless'>): void {
  if (items.length > 0) return;
  const issues = nameless.flatMap(({ path, findings }) => findings.map((finding) => findingWarning(path, finding, false)));
  throw invalidRequest(issues.length > 0 ? issues : [{ path: 'tools', message: 'contains no tools' }]);
}

/** `more`: further warnings, for example about toolsets that keep their current edition. */
export function reportListing(
  server: string,
  listing: Pick<PinnedListing, 'items' | 'nameless'>,
  taken: ListingOutcome,
  more: readonly Warning[],
): ListingReport {
  const paths = new Map(listing.items.map(({ name, path }) => [name, path]));
  const warnings = [
    ...listing.nameless.flatMap(({ path, findings }) => findings.map((finding) => findingWarning(path, finding, true))),
    ...taken.tools.flatMap((tool) => toolWarnings(server, tool, paths.get(tool.name))),
  ].sort((one, other) => placeOf(one) - placeOf(other));
  const namesIn = (state: 'held' | 'rejected') => taken.tools.filter((tool) => toolStateOf(tool) === state).map(({ name }) => name);
  return {
    server,
    tools: taken.tools.filter(({ listed }) => listed !== null).length,
    updated: taken.updated,
    added: taken.added,
    removed: taken.removed,
    held: namesIn('held'),
    rejected: namesIn('rejected'),
    refused: [
      ...taken.tools.filter(({ refused }) => refused !== null).map(({ name }) => name),
      ...listing.nameless.map(({ name, path }) => (name === '' ? path : name.slice(0, limits.maxQuotedLength))),
    ],
    renames: taken.renames,
    warnings: firstWarnings([...warnings, ...more], 'warnings', limits.maxReportedIssues),
  };
}

/** `path`: the tool's position in the listing; absent if it is not listed. */
function toolWarnings(server: string, tool: StoredTool, path: string | undefined): Warning[] {
  const canonical = canonicalOf(server, tool.name);
  if (path === undefined) {
    const now =
      tool.renamedTo === null ? '' : `; ${canonicalOf(server, tool.renamedTo)} has the same definition: rebind it to keep the names`;
    const why = hasRejections(tool.decisions) ? 'a definition of it was rejected' : 'toolsets contain it';
    return [{ path: 'tools', message: `${canonical} is no longer listed and cannot be called, but ${why}${now}` }];
  }
  const findings = tool.findings.map((finding) => findingWarning(path, finding, tool.refused !== null));
  // A rejected tool was reviewed: the report has its name, and the tool its findings.
  if (toolStateOf(tool) === 'rejected') return [];
  if (tool.reason === null) return findings;
  const [first] = holdOf(tool)?.changes ?? [];
  const at = tool.reason !== 'changed' || first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  const why = `${holdTexts[tool.reason]}${at}`;
  return [...findings, { path, message: `${quote(tool.name)} is held, ${why}: it cannot be called until an administrator accepts it` }];
}

function findingWarning(base: string, { path, message }: Finding, isLeftOut: boolean): Warning {
  const place = issuePath(pointerTokens(path).map((key) => (isIndex(key) ? Number(key) : key)));
  const separator = place === '' || place.startsWith('[') ? '' : '.';
  return { path: `${base}${separator}${place}`, message: isLeftOut ? `${message}; the tool is left out` : message };
}

/** The sort key of a warning: its index in the listing. Warnings without an index come last. */
function placeOf({ path }: Warning): number {
  const index = /^tools\[(\d+)\]/.exec(path)?.[1];
  return index === undefined ? Number.MAX_SAFE_INTEGER : Number(index);
}
