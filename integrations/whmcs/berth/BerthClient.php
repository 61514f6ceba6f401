<?php
// The Berth API for billing modules: retries that cannot do a thing twice, and errors in words for the person who reads
// them. The same file is in each module's folder; integrations/copy-shared writes the copies.

declare(strict_types=1);

if (!class_exists('BerthError', false)) {
    /** A call that did not succeed. `code` is Berth's code, or `no_answer`; `status` is 0 without an answer. */
    final class BerthError extends Exception
    {
        public function __construct(
            public readonly string $errorCode,
            string $message,
            public readonly int $status = 0,
            public readonly array $details = [],
            public readonly string $requestId = '',
        ) {
            parent::__construct($message);
        }

        /** One line for staff: what happened, what to do, and what to quote. */
        public function words(): string
        {
            $remedies = [
                'no_answer' => 'Run the action again: what was done already is not done twice.',
                'no_capacity' => 'Out of stock: choose another location or package, or add a node.',
                'no_addresses' => 'Out of stock: add an address pool in Berth.',
                'restarting' => 'Run the action again in a minute.',
                'rate_limited' => 'Run the action again a minute later.',
                'server_busy' => 'Wait until the job of the server has ended, then run the action again.',
                'missing_scope' => 'Make a token with the preset for billing in Berth.',
                'invalid_token' => 'Check the token of the server in the settings of this module.',
                'email_taken' => 'A customer in Berth has this address: set the client\'s number as its external id there.',
            ];
            $remedy = $remedies[$this->errorCode] ?? '';
            $quoted = $this->requestId === '' ? $this->errorCode : "{$this->errorCode}, request {$this->requestId}";
            return 'Berth: ' . trim("{$this->getMessage()} {$remedy}") . " ({$quoted})";
        }
    }

    final class BerthClient
    {
        /** A call is tried so often, and all tries together take at most so many seconds. */
        private const TRIES = 4;
        private const MOST_SECONDS = 60;

        /** Seconds for one try, and for the pause after the first; each later pause is twice as long. */
        public static float $timeout = 30.0;
        public static float $pause = 1.0;

        private string $base;
        private ?array $connection = null;

        /**
         * @param string $url the address of the panel, such as https://panel.example.com
         * @param ?callable $log called with method, path, sent body and answer; secrets are masked before
         */
        public function __construct(
            string $url,
            private string $token,
            private $log = null,
        ) {
            $address = rtrim(trim($url), '/');
            $this->base = (str_contains($address, '://') ? $address : "https://$address") . '/api/v1';
        }

        /**
         * One call. A change gets an Idempotency-Key, so that a try whose answer was lost is not done twice; `$key` makes
         * it the same in later calls too. Throws BerthError.
         */
        public function call(string $method, string $path, ?array $body = null, ?string $key = null): array
        {
            $changes = $method !== 'GET';
            $key ??= $changes ? 'php-' . bin2hex(random_bytes(16)) : null;
            $until = microtime(true) + self::MOST_SECONDS;
            for ($try = 1; ; $try++) {
                [$error, $wait, $answer] = $this->attempt($method, $path, $body, $key, $try);
                if ($error === null) {
                    return $answer;
                }
                if ($wait === null || $try === self::TRIES || microtime(true) + $wait > $until) {
                    throw $error;
                }
                usleep((int) round($wait * 1e6));
            }
        }

        /** Who the token is; it decides between the calls of staff and of resellers. */
        public function connection(): array
        {
            return $this->connection ??= $this->call('GET', '/billing/connection');
        }

        public function isReseller(): bool
        {
            return $this->connection()['account']['kind'] === 'reseller';
        }

        /** The start of the paths for this kind of account. */
        private function area(): string
        {
            return $this->isReseller() ? '/reseller' : '/admin';
        }

        /** Packages and locations that can be ordered. @return array{0: array, 1: array} */
        public function offer(): array
        {
            if ($this->isReseller()) {
                $account = $this->call('GET', '/reseller/account');
                return [$account['packages'], $account['locations']];
            }
            $offer = $this->call('GET', '/admin/packages?limit=200');
            return [array_values(array_filter($offer['data'], fn ($p) => !$p['archived'])), $offer['locations']];
        }

        /** Every row of a list, page by page. */
        public function all(string $path): iterable
        {
            $cursor = null;
            do {
                $join = str_contains($path, '?') ? '&' : '?';
                $page = $this->call('GET', $path . ($cursor === null ? '' : $join . 'cursor=' . rawurlencode($cursor)));
                yield from $page['data'];
                $cursor = $page['nextCursor'];
            } while ($cursor !== null);
        }

        /** The id of the customer with this external id, which is made when there is none. */
        public function customer(string $externalId, string $name, string $email, string $organization = ''): string
        {
            $area = $this->area();
            $find = fn () => $this->call('GET', "$area/customers?externalId=" . rawurlencode($externalId))['data'][0]['id'] ?? null;
            $found = $find();
            if ($found !== null) {
                return $found;
            }
            $body = ['name' => $name, 'email' => $email, 'externalId' => $externalId];
            if ($organization !== '') {
                $body['organization'] = $organization;
            }
            try {
                return $this->call('POST', "$area/customers", $body)['id'];
            } catch (BerthError $error) {
                // Another order of the same client made it meanwhile.
                $found = $error->errorCode === 'external_id_taken' ? $find() : null;
                return $found ?? throw $error;
            }
        }

        /** The server with this identifier that is not terminated. */
        public function serverOf(string $billingServiceId): ?array
        {
            $path = $this->isReseller() ? '/servers' : '/admin/servers';
            return $this->call('GET', "$path?billingServiceId=" . rawurlencode($billingServiceId))['data'][0] ?? null;
        }

        /** All servers that the token sees. */
        public function servers(): iterable
        {
            return $this->all(($this->isReseller() ? '/servers' : '/admin/servers') . '?limit=100');
        }

        /**
         * Places the order of a service once. A service whose server exists gets that one, whatever became of the answer
         * to its order. `$times` counts the orders of one service, so that one after a termination is a new one.
         */
        public function order(array $order, string $times): array
        {
            $there = $this->serverOf($order['billingServiceId']);
            if ($there !== null) {
                return ['serverId' => $there['id'], 'jobId' => null, 'ipv4' => $there['ipv4'], 'rootPassword' => null];
            }
            $answer = $this->call('POST', $this->area() . '/servers', $order, "{$order['billingServiceId']}/$times");
            return $answer + ['rootPassword' => null];
        }

        public function suspend(string $serverId, string $reason): void
        {
            $this->unlessDone('already_suspended', fn () =>
                $this->call('POST', "/servers/$serverId/actions/suspend", ['reason' => $reason === '' ? 'Overdue' : $reason]));
        }

        public function unsuspend(string $serverId): void
        {
            $this->unlessDone('not_suspended', fn () => $this->call('POST', "/servers/$serverId/actions/unsuspend", []));
        }

        /** A server that is gone already counts as done; a reseller no longer sees it. */
        public function terminate(string $serverId): void
        {
            $this->unlessDone(['server_terminated', 'server_not_found'], fn () => $this->call('DELETE', "/servers/$serverId", []));
        }

        public function changePackage(string $serverId, string $packageId): array
        {
            return $this->call('POST', "/servers/$serverId/actions/change-package", ['packageId' => $packageId]);
        }

        public function power(string $serverId, string $action): void
        {
            $this->unlessDone(['already_running', 'already_stopped'], fn () =>
                $this->call('POST', "/servers/$serverId/actions/power", ['action' => $action]));
        }

        /** `rootPassword`, and `applies`: now, or next_boot when no guest agent answers. Needs the scope servers:settings. */
        public function resetPassword(string $serverId): array
        {
            return $this->call('POST', "/servers/$serverId/actions/reset-password", []);
        }

        /** A link that signs the server's owner in; it is good for 60 seconds. */
        public function signInLink(string $serverId): string
        {
            return $this->call('POST', "/servers/$serverId/sign-in-links", [])['url'];
        }

        /** The lines of a month's usage by server. `$month` is like 2026-11; without it Berth's present month, in UTC. */
        public function usage(?string $month = null): array
        {
            $lines = [];
            foreach ($this->all('/reports/usage?limit=1000' . ($month === null ? '' : '&month=' . rawurlencode($month))) as $line) {
                $lines[$line['serverId']] = $line;
            }
            return $lines;
        }

        /** Is this the body of a webhook that Berth signed within the last five minutes? */
        public static function isGenuine(string $secret, string $timestamp, string $signatures, string $body, ?int $now = null): bool
        {
            if (!ctype_digit($timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
                return false;
            }
            $expected = 'v1=' . hash_hmac('sha256', "$timestamp.$body", $secret);
            $genuine = false;
            foreach (explode(',', $signatures) as $signature) {
                $genuine = hash_equals($expected, trim($signature)) || $genuine;
            }
            return $genuine;
        }

        private function unlessDone(string|array $codes, callable $call): void
        {
            try {
                $call();
            } catch (BerthError $error) {
                if (!in_array($error->errorCode, (array) $codes, true)) {
                    throw $error;
                }
            }
        }

        /** @return array{0: ?BerthError, 1: ?float, 2: array} the error, the seconds until it is worth another try, the answer */
        private function attempt(string $method, string $path, ?array $body, ?string $key, int $try): array
        {
            $pause = self::$pause * 2 ** ($try - 1);
            $retryAfter = null;
            $requestId = '';
            $headers = ['Accept: application/json', "Authorization: Bearer {$this->token}", 'Expect:'];
            if ($key !== null) {
                $headers[] = "Idempotency-Key: $key";
            }
            $curl = curl_init($this->base . $path);
            curl_setopt_array($curl, [
                CURLOPT_CUSTOMREQUEST => $method,
                CURLOPT_RETURNTRANSFER => true,
                CURLOPT_CONNECTTIMEOUT => 10,
                CURLOPT_TIMEOUT_MS => (int) (self::$timeout * 1000),
                CURLOPT_FOLLOWLOCATION => false,
                CURLOPT_USERAGENT => 'Berth-PHP/1.0',
                CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$retryAfter, &$requestId) {
                    [$name, $value] = explode(':', $line, 2) + [1 => ''];
                    match (strtolower(trim($name))) {
                        'retry-after' => $retryAfter = (float) trim($value),
                        'x-request-id' => $requestId = trim($value),
                        default => null,
                    };
                    return strlen($line);
                },
            ]);
            if ($body !== null) {
                $headers[] = 'Content-Type: application/json';
                curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode((object) $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES));
            }
            curl_setopt($curl, CURLOPT_HTTPHEADER, $headers);
            $text = curl_exec($curl);
            $reason = curl_error($curl);
            $status = (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
            curl_close($curl);
            if ($text === false) {
                $this->note($method, $path, $body, "no answer: $reason");
                return [new BerthError('no_answer', "There was no answer ($reason)."), $pause, []];
            }
            $answer = json_decode($text, true);
            $this->note($method, $path, $body, $answer ?? "status $status");
            if ($status >= 200 && $status < 300 && is_array($answer)) {
                return [null, null, $answer];
            }
            $said = $answer['error'] ?? ['code' => 'no_answer', 'message' => "The answer had the status $status and was none of Berth's."];
            $error = new BerthError($said['code'], $said['message'], $status, $said['details'] ?? [], $requestId);
            $isWorthATry = in_array($status, [429, 500, 502, 503, 504], true);
            return [$error, $isWorthATry ? ($retryAfter ?? $pause) : null, []];
        }

        private function note(string $method, string $path, ?array $body, mixed $answer): void
        {
            if ($this->log === null) {
                return;
            }
            if (is_array($answer)) {
                foreach (['rootPassword', 'url', 'token'] as $secret) {
                    if (isset($answer[$secret]) && is_string($answer[$secret])) {
                        $answer[$secret] = '***';
                    }
                }
            }
            ($this->log)($method, $path, $body, $answer);
        }
    }
}
