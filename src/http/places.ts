/** The places of a request in the pools of this isolate (`engine/fair-pool.ts`), which are released when its response begins. */
import { isShortage, type Place, type PoolShortage, shortageProblem } from '../engine/fair-pool.ts';
import type { AppContext } from './middleware/request-context.ts';

export function holdUntilResponse(c: AppContext, place: Place): void {
  c.set('places', [...(c.get('places') ?? []), place]);
}

/** Call it when the response begins. */
export function releasePlaces(c: AppContext): void {
  for (const place of c.get('places') ?? []) place.release();
}

export function placeOf(taken: Place | PoolShortage): Place {
  if (isShortage(taken)) throw shortageProblem(taken);
  return taken;
}
