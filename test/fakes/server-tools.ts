/** Servers' tools of the fake catalog, in memory; the product's rules decide about listings (`core/listing/apply-listing.ts`). */
import { acceptReplacement, acceptTool, toolKind, type ToolAcceptance } from '../../src/core/listing/decide-tool.ts';
import {
  acceptedAnnotationPins,
  canonicalOf,
  rawOf,
  toolStateOf,
  toToolDefinition,
  toServerTool,
  type StoredTool,
} from '../../src/core/listing/stored-tool.ts';
import { reportListing, requireNamedItems } from '../../src/core/listing/listing-report.ts';
import { rejectDefinition, undoDecision, type RejectRequest, type UndoRequest } from '../../src/core/listing/decide-definition.ts';
import { Problem } from '../../src/core/problem.ts';
import type { ListingReport, Server, ServerAccess, ServerTool } from '../../src/core/servers/server.ts';
import {
  isRemembered,
  readEchoedListing,
  missingTool,
  pinListing,
  applyListing,
  type PinnedListing,
} from '../../src/core/listing/apply-listing.ts';
import type { Finding } from '../../src/core/listing/hold.ts';
import type { Discovery, ServerOperation } from '../../src/core/servers/server-state.ts';
import type { ToolDefinition } from '../../src/core/tools/tool.ts';

type ServerDocument = Omit<Server, 'tools'>;
type Taken = { report: ListingReport; hash: string; commit: () => void };

/** `isNamed`: whether a toolset has the tool, by its canonical name. */
export function fakeServerTools(isNamed: (canonical: string) => boolean) {
  const kept = new Map<string, StoredTool[]>();
  const toolsOf = (server: string): StoredTool[] => kept.get(server) ?? [];
  const requireTool = (server: string, name: string): StoredTool => {
    const tool = toolsOf(server).find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Problem('not_found', `The server "${server}" has no tool "${name}".`);
    return tool;
  };
  const decided = () => ({ by: 'root', at: Date.now() });
  const replace = (server: string, tool: StoredTool): void => {
    kept.set(
      server,
      toolsOf(server).map((candidate) => (candidate.name === tool.name ? tool : candidate)),
    );
  };
  const take = async (server: string, tools: readonly Record<string, unknown>[], isFirst: boolean): Promise<Taken> => {
    const shown = readEchoedListing(server, tools, toolsOf(server));
    const listing = await pinListing(shown.tools, shown);
    // A refresh may find something that is not a definition.
    if (tools.length > 0) requireNamedItems(listing);
    return { ...takePinned(server, listing, { isFirst }), hash: listing.hash };
  };
  const takePinned = (server: string, listing: PinnedListing, by: { isFirst: boolean; stranger?: Finding | null }): Omit<Taken, 'hash'> => {
    const request = { kept: toolsOf(server), items: listing.items, ...by, isNamed: (name: string) => isNamed(canonicalOf(server, name)) };
    const taken = applyListing(request);
    return { report: reportListing(server, listing, taken, []), commit: () => void kept.set(server, taken.tools) };
  };

  return {
    take,
    takeDiscovery: async (
      server: string,
      { tools, operations }: Discovery,
      by: { isFirst: boolean; stranger: Finding | null },
    ): Promise<ListingReport> => {
      const { report, commit } = takePinned(server, await pinListing(tools, { operations: operations ?? {} }), by);
      commit();
      return report;
    },
    names: (server: string): Set<string> => new Set(toolsOf(server).map(({ name }) => name)),
    operation: (server: string, name: string): ServerOperation => {
      const operation = toolsOf(server).find((tool) => tool.name === name)?.accepted?.definition.operation;
      if (operation === undefined) throw new Problem('not_found', `There is no operation "${name}" of ${server}.`);
      return operation;
    },
    refresh: async (server: string): Promise<ListingReport> => {
      const listed = toolsOf(server).flatMap((tool) => (tool.listed === null ? [] : [rawOf(tool.listed)]));
      const { report, commit } = await take(server, listed, false);
      commit();
      return report;
    },
    remove: (server: string): void => {
      const named = toolsOf(server).filter((tool) => isRemembered(tool, (name) => isNamed(canonicalOf(server, name))));
      kept.set(
        server,
        named.map((tool) => ({ ...missingTool(tool), renamedTo: null })),
      );
    },
    views: (server: string): ServerTool[] => toolsOf(server).map((tool) => toServerTool(server, tool)),
    view: (server: string, name: string): ServerTool => toServerTool(server, requireTool(server, name)),
    counts: (server: string) => {
      const states = toolsOf(server).map(toolStateOf);
      return {
        toolCount: states.filter((state) => state !== 'missing' && state !== 'refused').length,
        held: states.filter((state) => state === 'held').length,
      };
    },
    callable: (server: string): Pick<ServerAccess, 'ready' | 'held' | 'annotated'> => {
      const names = (isReady: boolean): string[] =>
        toolsOf(server)
          .filter((tool) => (toolStateOf(tool) === 'ready') === isReady)
          .map(({ name }) => name);
      return { ready: names(true), held: names(false), ...acceptedAnnotationPins(toolsOf(server)) };
    },
    definitions: (documents: ReadonlyMap<string, ServerDocument>): ToolDefinition[] =>
      [...kept].flatMap(([name, tools]) => {
        const { kind = 'static', trusted = false, instructions } = documents.get(name) ?? {};
        const server = { name, kind, trusted, ...(instructions !== undefined && { instructions }) };
        const isShown = (tool: StoredTool): boolean => toolStateOf(tool) !== 'missing' || isNamed(canonicalOf(name, tool.name));
        return tools.filter(isShown).flatMap((tool) => toToolDefinition(server, tool) ?? []);
      }),
    accept: (server: string, name: string, acceptance: ToolAcceptance): ServerTool => {
      replace(server, acceptTool(requireTool(server, name), acceptance, decided()));
      return toServerTool(server, requireTool(server, name));
    },
    reject: (server: string, name: string, request: RejectRequest): ServerTool => {
      const tool = requireTool(server, name);
      replace(server, { ...tool, ...rejectDefinition(toolKind, tool, request, decided()) });
      return toServerTool(server, requireTool(server, name));
    },
    undo: (server: string, name: string, request: UndoRequest): ServerTool => {
      const tool = requireTool(server, name);
      replace(server, { ...tool, ...undoDecision(toolKind, tool, request) });
      return toServerTool(server, requireTool(server, name));
    },
    /** Accepts the other tool; returns the canonical names, for the toolsets. */
    rebind: (server: string, from: string, to: string): [from: string, to: string] => {
      const prefix = `${server}.`;
      const target = requireTool(server, to.startsWith(prefix) ? to.slice(prefix.length) : to);
      replace(server, acceptReplacement(requireTool(server, from), target, decided()));
      return [canonicalOf(server, from), canonicalOf(server, target.name)];
    },
    /** Called when toolsets no longer list tools. */
    forgetUnnamed: (): void => {
      for (const [server, tools] of kept) {
        kept.set(
          server,
          tools.filter((tool) => toolStateOf(tool) !== 'missing' || isRemembered(tool, (name) => isNamed(canonicalOf(server, name)))),
        );
      }
    },
  };
}
