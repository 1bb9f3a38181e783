import { Scope } from '../../src/core/people/principal.ts';
import { describeIsolation } from './workspace-isolation.ts';

describeIsolation(Scope.options.map((scope) => [scope]));
