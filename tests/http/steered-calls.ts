import { EventEmitter, once } from 'node:events';
import type { Failure } from '../../actors/failure.ts';
import type { OperatorOperations } from '../../actors/operators/operator-operations.ts';
import type { ShopOperations } from '../../actors/shops/shop-operations.ts';
import type { TenantOperations } from '../../actors/tenants/tenant-operations.ts';
import type { WebhookOperations } from '../../actors/webhooks/webhook-operations.ts';
import { deferred } from '../testbed/deferred.ts';

/** An operation that a test may steer. */
export type Operation =
  | keyof TenantOperations
  | keyof ShopOperations
  | keyof OperatorOperations
  | keyof WebhookOperations;

/** Lets a test see, delay and fail calls of operations. All other calls reach the real operations unchanged. */
export class SteeredCalls {
  readonly #planned = new Map<string, Failure | Error>();
  readonly #held = new Map<string, Promise<void>>();
  readonly #begun = new EventEmitter();

  /** The next call of the operation fails like this, and does nothing: a failure is answered, an error is thrown. */
  fail(operation: Operation, failure: Failure | Error): void {
    this.#planned.set(operation, failure);
  }

  /** Calls of the operation wait from now on, until the returned function is called. */
  hold(operation: Operation): () => void {
    const { promise, resolve: release } = deferred();
    this.#held.set(operation, promise);
    return () => {
      this.#held.delete(operation);
      release();
    };
  }

  /** Resolves when the next call of the operation begins. */
  async begins(operation: Operation): Promise<void> {
    await once(this.#begun, operation);
  }

  /** Returns the port with its calls under control. */
  over<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (real, name) => {
        const operation: unknown = Reflect.get(real, name);
        if (typeof operation !== 'function' || typeof name !== 'string') return operation;
        return (...args: unknown[]) => this.#call(name, () => Reflect.apply(operation, real, args));
      },
    });
  }

  #call(name: string, proceed: () => unknown): unknown {
    const held = this.#held.get(name);
    const planned = this.#planned.get(name);
    this.#planned.delete(name);
    this.#begun.emit(name);
    if (planned === undefined) return held === undefined ? proceed() : held.then(proceed);
    if (planned instanceof Error) return Promise.reject(planned);
    return Promise.resolve({ ok: false, failure: planned });
  }
}
