/** What the routes of records use: the audit, usage and limits, backups, and projects as files. */
import type { AuditPort } from '../../../ports/audit.ts';
import type { Projects } from '../../../ports/projects.ts';
import type { UsageReader } from '../../../ports/usage.ts';
import { type RoomServices, routesUsing, type WorkspaceKey } from '../../route.ts';
import type { HttpServices } from '../../services.ts';

type OfOtherRooms = Pick<HttpServices, 'servers' | 'sessions' | 'backups' | 'sandbox'>;

export interface RecordServices extends RoomServices<'clock' | 'limiter' | 'pools'>, OfOtherRooms {
  audit(workspace: string): AuditPort;
  /** Reads the usage of a workspace and its request log. */
  usage: UsageReader;
  /** Writes documents together, as a caller of the catalog. */
  projects(caller: WorkspaceKey): Projects;
  /** Fetches the document of an import. `egressHosts`: the only hosts that it may come from. */
  fetchDocument(url: string, egressHosts?: readonly string[]): Promise<Response>;
}

export const { defineRoute, definePublicRoute } = routesUsing<RecordServices>();
