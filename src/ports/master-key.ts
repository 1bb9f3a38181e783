/** The rotation of the master key, which the Catalog of the first workspace coordinates. */

/** `step`: what kind of value; `after`: the last one that was looked at. */
export type ResealPosition = { step: number; after: string };

/** A value that neither the current nor the previous master key opens. */
export type UnreadableValue = { kind: string; name: string };

/** What one step did. `next`: null at the end. `left`: values that the current key did not seal. `publishing`: writes to KV that are due. */
export type ResealStep = { next: ResealPosition | null; done: number; left: number; publishing: number; unreadable: UnreadableValue[] };

/** `left`: null before the first step. `fault`: why the newest step failed; it is retried. */
export type WorkspaceReseal = {
  workspace: string;
  done: number;
  left: number | null;
  isDone: boolean;
  fault: string | null;
  unreadable: UnreadableValue[];
};

/** Keys are shown as fingerprints. `retired`: under which API keys may have been created, oldest first. */
export type MasterKeyState = {
  current: string;
  previous: string | null;
  retired: string[];
  reseal: {
    status: 'none' | 'running' | 'done' | 'failed';
    startedAt: string | null;
    finishedAt: string | null;
    /** When the previous key can be removed from the settings; null: not yet. */
    removableAt: string | null;
    done: number;
    left: number;
    workspaces: WorkspaceReseal[];
  };
};

export interface MasterKeyPort {
  masterKeyState(): Promise<MasterKeyState>;
  /** Starts in the background, or again from the beginning. Throws `conflict` without a previous key. */
  startReseal(): Promise<MasterKeyState>;
  /** Seals some values of this Catalog's workspace again. May be repeated. */
  resealSome(position: ResealPosition): Promise<ResealStep>;
}
