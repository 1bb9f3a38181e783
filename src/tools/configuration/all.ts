/** All configuration tools (DESIGN §10). They are built-in tools, and a toolset has them only if it lists them. Used by `registry.ts`. */
import type { DefinedTool } from '../define-tool.ts';
import { buildToolset } from './build-toolset.ts';
import { deleteToolset } from './delete-toolset.ts';
import { equipToolset } from './equip-toolset.ts';
import { getActiveToolset } from './get-active-toolset.ts';
import { listAvailableTools } from './list-available-tools.ts';
import { listSavedToolsets } from './list-saved-toolsets.ts';
import { enterConfigurationMode, exitConfigurationMode } from './mode-tools.ts';
import { renameToolset } from './rename-toolset.ts';
import { addToolAnnotation, removeToolAnnotation } from './tool-annotations.ts';
import { unequipToolset } from './unequip-toolset.ts';
import { updateToolset } from './update-toolset.ts';

export const configurationToolset: readonly DefinedTool[] = [
  listAvailableTools,
  buildToolset,
  listSavedToolsets,
  equipToolset,
  unequipToolset,
  getActiveToolset,
  deleteToolset,
  addToolAnnotation,
  enterConfigurationMode,
  exitConfigurationMode,
  updateToolset,
  renameToolset,
  removeToolAnnotation,
];
