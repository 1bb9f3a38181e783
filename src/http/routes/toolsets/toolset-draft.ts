/** A draft of a toolset, which is not stored: read and compiled as far as it is valid. For its preview, and for its impact on past calls. */
import type * as z from 'zod';
import { requireAllowed } from '../../../core/people/authority.ts';
import type { Principal } from '../../../core/people/principal.ts';
import { type Issue, parsePart, type Warning } from '../../../core/problem.ts';
import type { CompiledDraft } from '../../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../../core/toolset/toolset.ts';
import { previewToolset } from '../../../engine/configuration/write-toolset.ts';
import { requireSameName } from '../../conditions.ts';
import type { HttpServices } from '../../services.ts';
import { ToolsetBody, toToolset } from './toolsets.ts';

/** `issues`: all faults but the conflicts, which `compiled` has. `warnings`: of a copy. */
type GivenDraft = { toolset: Toolset; compiled: CompiledDraft; issues: Issue[]; warnings: Warning[] };

export async function compileGiven(
  services: HttpServices,
  principal: Principal,
  name: string,
  body: Readonly<Record<string, unknown>>,
): Promise<GivenDraft> {
  requireAllowed(principal, { act: 'write-toolset', toolset: name });
  const { draft, places, issues } = readDraft(body);
  requireSameName(name, { name: typeof body.name === 'string' ? body.name : undefined });
  const empty = { toolset: { announce: 'prompt' as const, tools: [] }, warnings: [] };
  const { toolset, warnings } = draft === null ? empty : await toToolset(services, principal, name, draft);
  const compiled = await previewToolset(services.catalog(principal), principal, name, toolset, places ?? [...toolset.tools.keys()]);
  return { toolset, compiled, issues: [...issues, ...compiled.issues], warnings };
}

type Draft = z.infer<typeof ToolsetBody>;

/** Returns what matches the schema: without the entries and members that do not. `draft` null: nothing. `places` null: all entries. */
function readDraft(body: Readonly<Record<string, unknown>>): { draft: Draft | null; places: number[] | null; issues: Issue[] } {
  const whole = parsePart(ToolsetBody, body);
  if ('data' in whole) return { draft: whole.data, places: null, issues: [] };
  const { issues } = whole;
  const entries: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const wrong = new Set(issues.map(({ path }) => /^[^.[]*(\[\d+\])?/.exec(path)?.[0] ?? ''));
  const places = [...entries.keys()].filter((index) => !wrong.has(`tools[${index}]`));
  if (places.length === 0 || wrong.has('')) return { draft: null, places: [], issues };
  const members = Object.entries(body).filter(([member]) => !wrong.has(member) && Object.hasOwn(ToolsetBody.shape, member));
  const rest = parsePart(ToolsetBody, { ...Object.fromEntries(members), tools: places.map((index) => entries[index]) });
  return { draft: 'data' in rest ? rest.data : null, places: 'data' in rest ? places : [], issues };
}
