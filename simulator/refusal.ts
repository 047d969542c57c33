/** An answer other than success: HTTP status, the error envelope's code, message and details. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  constructor(status: number, code: string, message: string, details: unknown = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export function notFound(what: string): Refusal {
  return new Refusal(404, "RESOURCE_NOT_FOUND", `${what} not found`);
}

export function invalid(field: string, message: string): Refusal {
  return new Refusal(422, "VALIDATION_ERROR", message, [{ field, message }]);
}
