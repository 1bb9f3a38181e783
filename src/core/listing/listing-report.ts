/** What a listing brought, told to whoever made it. What is done with its tools is decided before (`take-listing.ts`). */
import type { Finding } from './hold.ts';
import { pathText } from '../issues.ts';
import { isIndex, tokensOf } from '../json-pointer.ts';
import { canonicalOf, holdOf, stateOf } from './kept-tool.ts';
import type { KeptTool } from './kept-tool.ts';
import { limits } from '../limits.ts';
import { quote } from '../names.ts';
import { invalidRequest } from '../problem.ts';
import type { ListingReport } from '../servers/server.ts';
import type { PinnedListing, TakenListing } from './take-listing.ts';
import { firstWarnings, type Warning } from '../warning.ts';

/** Throws `invalid_request` for a listing in which nothing has a name to be known by: like an empty one, it would only take away what there is. */
export function requireNamed({ items, nameless }: Pick<PinnedListing, 'items' | 'nameless'>): void {
  if (items.length > 0) return;
  const issues = nameless.flatMap(({ path, findings }) => findings.map((finding) => findingWarning(path, finding, false)));
  throw invalidRequest(issues.length > 0 ? issues : [{ path: 'tools', message: 'lists none that there is' }]);
}

/** `more`: what else there is to say, such as of toolsets that keep their edition. */
export function reportListing(
  server: string,
  listing: Pick<PinnedListing, 'items' | 'nameless'>,
  taken: TakenListing,
  more: readonly Warning[],
): ListingReport {
  const paths = new Map(listing.items.map(({ name, path }) => [name, path]));
  const warnings = [
    ...listing.nameless.flatMap(({ path, findings }) => findings.map((finding) => findingWarning(path, finding, true))),
    ...taken.tools.flatMap((tool) => toolWarnings(server, tool, paths.get(tool.name))),
  ].sort((one, other) => placeOf(one) - placeOf(other));
  return {
    server,
    tools: taken.tools.filter(({ listed }) => listed !== null).length,
    added: taken.added,
    removed: taken.removed,
    held: taken.tools.filter((tool) => stateOf(tool) === 'held').map(({ name }) => name),
    refused: [
      ...taken.tools.filter(({ refused }) => refused !== null).map(({ name }) => name),
      ...listing.nameless.map(({ name, path }) => (name === '' ? path : name.slice(0, limits.maxQuotedLength))),
    ],
    renames: taken.renames,
    warnings: firstWarnings([...warnings, ...more], 'warnings', limits.maxToldIssues),
  };
}

/** `path`: where it stands in the listing; absent: it does not. */
function toolWarnings(server: string, tool: KeptTool, path: string | undefined): Warning[] {
  const canonical = canonicalOf(server, tool.name);
  if (path === undefined) {
    const now =
      tool.renamedTo === null ? '' : `; ${canonicalOf(server, tool.renamedTo)} came with its definition: rebind it, and the names stay`;
    return [{ path: 'tools', message: `${canonical} is not listed any more, and toolsets have it: it cannot be called${now}` }];
  }
  const findings = tool.findings.map((finding) => findingWarning(path, finding, tool.refused !== null));
  const hold = holdOf(tool);
  if (hold === null) return findings;
  const [first] = hold.changes;
  const reasons = {
    changed: `its definition changed${first === undefined || first.path === '' ? '' : ` at ${first.path}`}`,
    new: 'it was listed later than the others',
    suspicious: 'a person has to look at what it says',
    server: 'its server calls itself something else now',
  };
  return [
    ...findings,
    { path, message: `${quote(tool.name)} is held, ${reasons[hold.reason]}: it cannot be called until somebody accepts it` },
  ];
}

function findingWarning(base: string, { path, message }: Finding, isLeftOut: boolean): Warning {
  const place = pathText(tokensOf(path).map((key) => (isIndex(key) ? Number(key) : key)));
  const separator = place === '' || place.startsWith('[') ? '' : '.';
  return { path: `${base}${separator}${place}`, message: isLeftOut ? `${message}; the tool is left out` : message };
}

/** In the order of the listing; what has no place in it last. */
function placeOf({ path }: Warning): number {
  const index = /^tools\[(\d+)\]/.exec(path)?.[1];
  return index === undefined ? Number.MAX_SAFE_INTEGER : Number(index);
}
