/** Documents that are written together, and the projects that own them. Implemented by the workspace's Catalog (`catalog/projects/`). */
import type { DocumentChange } from '../core/project/document-changes.ts';
import type { PlanImpact } from '../core/project/plan-impact.ts';
import type { Warning } from '../core/problem.ts';
import type { DocumentKind, WriteOptions } from './catalog.ts';

/** In the order in which they are written: a kind depends on earlier ones. They are removed in the opposite order. */
export const projectKinds = [
  'secret',
  'provider',
  'model-alias',
  'server',
  'ui-tool',
  'made-tool',
  'tool-aliases',
  'toolset',
  'skill',
  'agent',
  'suite',
  'policy',
  'webhook',
  'schedule',
  'subscription',
  'member',
  'workspace',
] as const satisfies readonly DocumentKind[];
export type ProjectKind = (typeof projectKinds)[number];

/** A secret without a `value` is not written: the stored one stays. */
export type DocumentWrite = {
  kind: ProjectKind;
  name: string;
  body: Record<string, unknown>;
  options?: Pick<WriteOptions, 'ifMatch' | 'ifNoneMatch'>;
  /** It names tools that servers of the same request will list: if it cannot be written yet, it is `deferred`. */
  awaitsTools?: true;
  /** It is skipped if it cannot be written. */
  mayFail?: true;
  /** Why it cannot be written: it is skipped. */
  fault?: string;
};

/** `source`: identifies the file, to compare it with what it gave before. `isPartial`: what cannot be written is skipped. */
export type ImportOrigin = { source: string; isReplacing: boolean; isPartial: boolean };

export type ApplyRequest = {
  /** null: the documents belong to no project, and replace stored ones. */
  project: string | null;
  writes: readonly DocumentWrite[];
  dryRun?: boolean;
  /** Also replaces and removes documents that others changed since, or that the project did not create. */
  force?: boolean;
  /** Removes documents that the project created and no longer has. */
  prune?: boolean;
  /** As in `WriteOptions`. Without it, what it allows is skipped. */
  mayRunCommands?: true;
  /** The documents leave the project, which is then forgotten. */
  ends?: boolean;
  /** The documents are merged into stored ones (`core/import/merge-document.ts`), unless it replaces them. */
  import?: ImportOrigin;
  /** Toolsets get the aliases that keep the calls of the last days working (`engine/project/plan-impact.ts`). */
  mend?: boolean;
  /** The `plan` of a dry run. Throws `precondition_failed` if the plan is a different one by now. */
  plan?: string;
};

/**
 * `kept`: not written or removed, although the project differs, unless forced. `skipped`: it could not be written. `deferred`: it is to be
 * written again once its servers have listed their tools.
 */
export type AppliedDocument = {
  kind: ProjectKind;
  name: string;
  action: 'created' | 'updated' | 'unchanged' | 'removed' | 'kept' | 'skipped' | 'deferred';
  reason?: string;
  changes?: DocumentChange[];
  /** Of a dry run: the changed toolset or policy, for its impact on past calls; of the first `maxComparedToolsets` toolsets. */
  after?: Record<string, unknown>;
  /** Of a deferred document: it is not stored yet. */
  isNew?: true;
  warnings?: Warning[];
  /** Parts of an imported document that stay as they are stored, and parts that are left out. `path`: within the document. */
  keptParts?: DocumentPart[];
  skippedParts?: DocumentPart[];
};
/** Toolsets of a plan that are compared with past calls. */
export const maxComparedToolsets = 10;
export type DocumentPart = { path: string; reason: string };

/** `plan`: a hash of what the request does to which versions. `impact`: of a dry run; with `mend`, what could not be compared. */
export type ApplyResult = { plan: string; documents: AppliedDocument[]; impact?: PlanImpact };

/** `state`: whether the document is still as the project wrote it. `created`: by the project, which may therefore remove it. */
export type ProjectDocument = { kind: ProjectKind; name: string; state: 'current' | 'changed' | 'missing'; created: boolean };
export type ProjectRecord = { name: string; updatedAt: string; documents: ProjectDocument[] };

export interface Projects {
  /**
   * Writes all documents in one transaction, or none: throws the problems of those that cannot be written, with paths such as
   * `toolsets.work.tools[0].tool`. Rights are checked before (`engine/project/`).
   */
  applyDocuments(request: ApplyRequest): Promise<ApplyResult>;
  /** All projects, sorted by name; at most `limits.maxProjects`. */
  projects(): Promise<ProjectRecord[]>;
}
