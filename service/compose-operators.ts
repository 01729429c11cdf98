import {
  type DirectoryConnectionOptions,
  openDirectoryConnection,
} from '../actors/operators/directory-connection.ts';
import { nodeService } from '../actors/operators/node-service.ts';
import type { NodeOperations, OperatorOperations } from '../actors/operators/operator-operations.ts';
import { type OperatorServiceOptions, operatorService } from '../actors/operators/operator-service.ts';
import { OperatorsDirectory } from '../actors/operators/operators-directory.ts';
import type { LinkTopic } from '../runtime/node/link-topics.ts';
import type { RuntimeNode } from '../runtime/node/node.ts';

/** The operators' list of tenants, and the end of its connection. */
export interface OpenDirectory {
  readonly directory: OperatorsDirectory;
  /** Repairs the list in the background: missing entries appear as that runs. */
  repair(): void;
  close(): Promise<void>;
}

/** Opens the operators' list of tenants. */
export async function openDirectory(
  options: DirectoryConnectionOptions & { readonly node: RuntimeNode },
): Promise<OpenDirectory> {
  const { node, clock, log } = options;
  const { connection, close } = await openDirectoryConnection(options);
  const directory = new OperatorsDirectory({ store: node.store, clock, connection, log });
  const repair = (): void => {
    directory
      .repair()
      .catch((error: unknown) => log.warn({ err: error }, "the operators' directory could not be repaired"));
  };
  return { directory, repair, close };
}

interface OperatorsOptions extends Omit<OperatorServiceOptions, 'actors' | 'store'> {
  readonly node: RuntimeNode;
  /** Carries operators' commands to actors of another node. */
  readonly operatorsLink: LinkTopic;
}

/** The operators' services of a node: on one tenant or shop, and on the node itself. */
interface ComposedOperators {
  readonly service: OperatorOperations;
  readonly ownNode: NodeOperations;
}

/** Composes what operators see and control. */
export function composeOperators(options: OperatorsOptions): ComposedOperators {
  const { node, clock, host, operatorsDirectory, operatorsLink } = options;
  const { actors, store } = node;
  return {
    service: operatorService({ ...options, actors, store }),
    ownNode: nodeService({ node, clock, host, directory: operatorsDirectory, link: operatorsLink }),
  };
}
