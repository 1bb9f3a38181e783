/** What the routes of people, keys and workspaces use, and those of OAuth for MCP clients. */
import type { Principal } from '../../../core/people/principal.ts';
import type { ServedNames } from '../../../engine/mcp/served-names.ts';
import type { Authorization } from '../../../mcp/authorization/authorization.ts';
import type { BackupPort } from '../../../ports/backup.ts';
import type { CatalogCaller } from '../../../ports/catalog.ts';
import type { Grants } from '../../../ports/grants.ts';
import type { Workspaces } from '../../../ports/workspaces.ts';
import type { BrowserSignIn } from '../../../sign-in/identity.ts';
import type { TokenKind } from '../../../storage/keys/access-token.ts';
import type { JsonSeal } from '../../../mcp/authorization/checked-request.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface PeopleServices extends RoomServices<'clock' | 'log' | 'people'> {
  /** Who a person is, from the operator's identity providers. */
  identity: BrowserSignIn;
  /** The registry of workspaces, for the caller, which its changes are audited with. */
  workspaces(caller: Pick<Principal, 'keyId'>): Workspaces;
  backups(principal: Principal): BackupPort;
  /** The authorization server for MCP clients, and what its consent page is shown for. */
  oauth: Authorization;
  consents: JsonSeal;
  servedNames(principal: Principal, toolset: string): Promise<ServedNames>;
  grants(caller: CatalogCaller): Grants;
  /** Returns the workspace of a token of OAuth of one of these kinds; null: it was not issued here. */
  workspaceOfToken(text: string, kinds: readonly TokenKind[]): Promise<string | null>;
}

export const { defineRoute, definePublicRoute } = routesUsing<PeopleServices>();
