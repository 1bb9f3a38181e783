/** What the routes of the service itself use: its pages, health, metrics and master key. */
import type { Principal } from '../../../core/people/principal.ts';
import type { MasterKeyPort } from '../../../ports/master-key.ts';
import type { Readiness } from '../../../storage/published/readiness.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface OperatorServices extends Pick<RoomServices<'telemetry'>, 'settings' | 'telemetry'> {
  /** For `/readyz`. */
  readiness(): Promise<Readiness>;
  /** The rotation of the master key. */
  masterKey(principal: Principal): MasterKeyPort;
}

export const { defineRoute, definePublicRoute } = routesUsing<OperatorServices>();
