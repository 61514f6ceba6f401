<?php
// The Berth API for billing modules: retries that cannot do a thing twice, and errors in words for the person who reads
// them. It is in the sources once; integrations/package puts it into each module.

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
                'installation_copied' => 'See “A copy, or a move” in the README of this module.',
                'no_capacity' => 'Out of stock: choose another location or package, or add a node.',
                'no_addresses' => 'Out of stock: add an address pool in Berth.',
                'restarting' => 'Run the action again in a minute.',
                'rate_limited' => 'Run the action again a minute later.',
                'server_busy' => 'Wait until the job of the server has ended, then run the action again.',
                'missing_scope' => 'Make a token with the preset for billing in Berth.',
                'invalid_token' => 'Check the token of the server in the settings of this module.',
                'email_taken' => 'Give that customer the external id of this client in Berth, or the client another address.',
                'foreign_server' => 'Look at both in Berth: nothing was changed.',
                'wrong_answer' => 'Check the address of the panel and what stands in front of it, then run the action again.',
            ];
            $remedy = $remedies[$this->errorCode] ?? '';
            $quoted = $this->requestId === '' ? $this->errorCode : "{$this->errorCode}, request {$this->requestId}";
            return 'Berth: ' . trim("{$this->getMessage()} {$remedy}") . " ({$quoted})";
        }
    }

    /**
     * A service of a billing system and the client that it belongs to, by the names under which Berth knows them:
     * `whmcs:k3v9x2ab:17`. The installation in the middle keeps two billing systems on one Berth apart.
     */
    final class BerthService
    {
        public readonly string $id;
        public readonly string $clientId;

        /**
         * @param string $system the billing system in one word, such as whmcs
         * @param string $installation what installationOf() answered
         * @param string $service its number there, and `$client` the number of its client
         * @param string $name the name of the client; without one its e-mail is taken
         * @param ?string $formerId its identifier in modules before there were installations
         * @param ?string $formerClientId the same of the client
         */
        public function __construct(
            string $system,
            string $installation,
            string $service,
            string $client,
            private string $name,
            private string $email,
            private string $organization = '',
            public readonly ?string $formerId = null,
            public readonly ?string $formerClientId = null,
        ) {
            $this->id = "$system:$installation:$service";
            $this->clientId = "$system:$installation:$client";
        }

        /** The client in the form that Berth takes, whatever the billing system holds. */
        public function customer(): array
        {
            $email = strtolower(trim($this->email));
            $organization = self::line($this->organization);
            return [
                'name' => self::line($this->name) ?: self::line($email),
                'email' => $email,
                'organization' => $organization === '' ? null : $organization,
            ];
        }

        /** One line of at most 100 characters, in UTF-8. */
        private static function line(string $text): string
        {
            $valid = json_decode((string) json_encode($text, JSON_INVALID_UTF8_SUBSTITUTE));
            preg_match('/^.{0,100}/us', trim((string) preg_replace('/[\s\p{Cc}]+/u', ' ', $valid)), $found);
            return trim($found[0] ?? '');
        }

        /** Eight characters for a new installation, kept with the host so that a copy of the database is noticed. */
        public static function newInstallation(string $host): string
        {
            $characters = 'abcdefghjkmnpqrstuvwxyz23456789';
            $made = '';
            for ($n = 0; $n < 8; $n++) {
                $made .= $characters[random_int(0, strlen($characters) - 1)];
            }
            return $host === '' ? $made : "$made@" . strtolower($host);
        }

        /** The installation in what newInstallation() made. Throws when it was made for another host than `$host`. */
        public static function installationOf(string $kept, string $host): string
        {
            [$installation, $madeFor] = explode('@', trim($kept), 2) + [1 => ''];
            if (!preg_match('/^[a-z0-9]{8}$/D', $installation)) {
                throw new BerthError('installation_copied', 'The id of this installation is not 8 letters and digits.');
            }
            if ($madeFor !== '' && $host !== '' && $madeFor !== strtolower($host)) {
                $words = "The installation $installation belongs to $madeFor, and this billing system runs at $host.";
                throw new BerthError('installation_copied', $words);
            }
            return $installation;
        }
    }

    final class BerthClient
    {
        /** A call is tried so often, and all tries together take at most so many seconds. */
        private const TRIES = 4;
        private const MOST_SECONDS = 60;
        /** Longer answers are cut off: Berth's are shorter, and a page of a gateway is none. */
        private const MOST_BYTES = 16_000_000;
        /** Orders of one service whose servers ended within a day, after which something else is wrong. */
        private const MOST_ORDERS = 50;

        /** Seconds for one try, and for the pause after the first; each later pause is twice as long. */
        public static float $timeout = 30.0;
        public static float $pause = 1.0;

        private string $base;
        private ?array $connection = null;
        /** Those that were looked up, by their external ids. */
        private array $customers = [];
        /** Of the last answer: its request id, and whether Berth had given it before. */
        private string $requestId = '';
        private bool $isReplay = false;

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
            return ($this->connection()['account']['kind'] ?? null) === 'reseller';
        }

        /** The start of the paths for this kind of account. */
        private function area(): string
        {
            return $this->isReseller() ? '/reseller' : '/admin';
        }

        /** Packages and locations that can be ordered. @return array{0: array, 1: array} */
        public function offer(): array
        {
            $offer = $this->call('GET', $this->isReseller() ? '/reseller/account' : '/admin/packages?limit=200');
            $packages = $this->isReseller() ? $this->rows($offer, 'packages') : $this->rows($offer, 'data');
            return [array_values(array_filter($packages, fn ($p) => empty($p['archived']))), $this->rows($offer, 'locations')];
        }

        /** Every row of a list, page by page. */
        public function all(string $path): iterable
        {
            $cursor = null;
            do {
                $join = str_contains($path, '?') ? '&' : '?';
                $page = $this->call('GET', $path . ($cursor === null ? '' : $join . 'cursor=' . rawurlencode($cursor)));
                yield from $this->rows($page, 'data');
                $before = $cursor;
                $cursor = $page['nextCursor'] ?? null;
                if ($cursor !== null && (!is_string($cursor) || $cursor === $before)) {
                    throw $this->wrong("The list $path does not end");
                }
            } while ($cursor !== null);
        }

        // ------------------------------------------------------------ clients
        /** The customer of this external id, or null. */
        public function customerWith(string $externalId): ?array
        {
            return $this->first($this->area() . '/customers', 'externalId', $externalId);
        }

        /**
         * The customer of a client as Berth has it, under its name of before if the e-mail is the same; null when there is
         * none. What the billing system changed meanwhile (name, e-mail, organization) is changed in Berth.
         */
        public function knownCustomer(BerthService $service): ?array
        {
            return $this->customers[$service->clientId] ??= $this->foundCustomer($service);
        }

        private function foundCustomer(BerthService $service): ?array
        {
            $wanted = $service->customer();
            $found = $this->customerWith($service->clientId);
            if ($found === null && $service->formerClientId !== null) {
                $found = $this->customerWith($service->formerClientId);
                // Two installations count their clients from 1: the same number is not yet the same person.
                if (strtolower((string) ($found['email'] ?? '')) !== $wanted['email']) {
                    return null;
                }
                $found = $this->change($found, ['externalId' => $service->clientId]);
            }
            if ($found === null) {
                return null;
            }
            $changes = array_filter($wanted, fn ($value, $field) => $value !== ($found[$field] ?? null), ARRAY_FILTER_USE_BOTH);
            // What Berth refuses of them (an address that somebody else has) must not keep a service from its suspension.
            foreach ($changes as $field => $value) {
                try {
                    $found = $this->change($found, [$field => $value]);
                } catch (BerthError $error) {
                    if ($error->status < 400 || $error->status >= 500) {
                        throw $error;
                    }
                }
            }
            return $found;
        }

        private function change(array $customer, array $changes): array
        {
            return $this->call('PATCH', '/customers/' . $this->text($customer, 'id'), $changes);
        }

        /** The customer of a client, made where there is none. */
        public function customerOf(BerthService $service): array
        {
            $found = $this->knownCustomer($service);
            if ($found !== null) {
                return $found;
            }
            try {
                $new = $service->customer() + ['externalId' => $service->clientId];
                return $this->customers[$service->clientId] = $this->call('POST', $this->area() . '/customers', $new);
            } catch (BerthError $error) {
                // Another service of the same client made it meanwhile.
                $isTaken = in_array($error->errorCode, ['external_id_taken', 'email_taken'], true);
                return ($isTaken ? $this->customerWith($service->clientId) : null) ?? throw $error;
            }
        }

        // ------------------------------------------------------------ servers
        /** The server with this identifier that is not terminated, whoever owns it. */
        private function serverWith(string $billingServiceId): ?array
        {
            return $this->first($this->serverList(), 'billingServiceId', $billingServiceId);
        }

        /** The first of a list that has this value. One that has another was not asked for: some cache had answered. */
        private function first(string $list, string $field, string $value): ?array
        {
            $found = $this->rows($this->call('GET', "$list?$field=" . rawurlencode($value)), 'data')[0] ?? null;
            return $found === null || ($found[$field] ?? null) === $value
                ? $found
                : throw $this->wrong("The list has another $field than was asked for");
        }

        private function serverList(): string
        {
            return $this->isReseller() ? '/servers' : '/admin/servers';
        }

        /**
         * The server of a service that is not terminated, or null. One that has the service's name of before gets the one of
         * now, when it belongs to this client. What shows a server or leads into it uses ownServer().
         */
        public function server(BerthService $service): ?array
        {
            $found = $this->serverWith($service->id);
            if ($found !== null || $service->formerId === null) {
                return $found;
            }
            $found = $this->serverWith($service->formerId);
            if ($found === null || !$this->isOwner($found, $this->knownCustomer($service))) {
                return null;
            }
            $path = "/servers/{$this->text($found, 'id')}/billing";
            return $this->call('PATCH', $path, ['billingServiceId' => $service->id]);
        }

        /** As server(), and it belongs to the client of the service: throws `foreign_server` otherwise. */
        public function ownServer(BerthService $service): ?array
        {
            $found = $this->server($service);
            if ($found === null || $this->isOwner($found, $this->knownCustomer($service))) {
                return $found;
            }
            $words = "The server {$this->text($found, 'id')} has the identifier of this service and belongs to another customer.";
            throw new BerthError('foreign_server', $words);
        }

        private function isOwner(array $server, ?array $customer): bool
        {
            return $customer !== null && ($server['owner']['id'] ?? null) === $this->text($customer, 'id');
        }

        /** The id of the server of a service. Throws `server_not_found`. */
        public function serverId(BerthService $service): string
        {
            $found = $this->server($service) ?? $this->formerMustBeGone($service)
                ?? throw new BerthError('server_not_found', 'This service has no server in Berth. Create it first.');
            return $this->text($found, 'id');
        }

        /** As serverId(), and the server belongs to the client of the service. */
        public function ownServerId(BerthService $service): string
        {
            $found = $this->ownServer($service)
                ?? throw new BerthError('server_not_found', 'This service has no server in Berth. Create it first.');
            return $this->text($found, 'id');
        }

        /**
         * The server of a service, ordered when it has none, and its root password if it was ordered within a day. Sent
         * again after a lost answer, by a second click or three times at once, it makes one server: the key of the order is
         * the service and the number of servers that it had before.
         *
         * @param array $order package, location, image and the rest of an order, without owner and identifier
         * @return array{serverId: string, server: array, rootPassword: ?string, user: string}
         */
        public function createOnce(BerthService $service, array $order): array
        {
            $there = $this->ownServer($service);
            if ($there === null && $this->knownCustomer($service) === null) {
                $this->tryOut($service, $order);
            }
            // Berth remembers a key for a day, by its own clock.
            $now = strtotime($this->text($this->connection(), 'time'));
            if ($there !== null && strtotime($this->text($there, 'createdAt')) < $now - 90_000) {
                return $this->made($there, null);
            }
            $order += ['ownerId' => $this->text($this->customerOf($service), 'id'), 'billingServiceId' => $service->id];
            $number = $this->serversBefore($service);
            for ($try = 0; $try < self::MOST_ORDERS; $try++, $number++) {
                try {
                    $answer = $this->call('POST', $this->area() . '/servers', $order, "{$service->id}/$number");
                    $isReplay = $this->isReplay;
                } catch (BerthError $error) {
                    // Its order is not remembered any more, or was made by an earlier module: there is no password.
                    $isBerths = !in_array($error->errorCode, ['no_answer', 'wrong_answer'], true);
                    $there = $isBerths ? $this->ownServer($service) : null;
                    return $there === null ? throw $error : $this->made($there, null);
                }
                $id = $this->text($answer, 'serverId');
                $there = $this->ownServer($service) ?? ($isReplay ? null : $this->call('GET', "/servers/$id"));
                if ($there !== null) {
                    return $this->made($there, $there['id'] === $id ? $answer : null);
                }
                // It was the order of a server that has ended since; the next one is another order.
            }
            throw $this->wrong('Each order of this service had been answered before');
        }

        /** Nobody becomes a customer for an order that is refused. */
        private function tryOut(BerthService $service, array $order): void
        {
            $tried = ['ownerId' => null, 'billingServiceId' => $service->id] + $order;
            try {
                $this->call('POST', $this->area() . '/servers?dryRun=true', $tried);
            } catch (BerthError $error) {
                // Another process has placed the order meanwhile, and made the customer.
                if ($error->errorCode !== 'billing_service_id_taken') {
                    throw $error;
                }
            }
        }

        private function made(array $server, ?array $answer): array
        {
            $password = $answer['rootPassword'] ?? null;
            return [
                'serverId' => $this->text($server, 'id'),
                'server' => $server,
                'rootPassword' => is_string($password) ? $password : null,
                'user' => is_string($server['user'] ?? null) ? $server['user'] : 'root',
            ];
        }

        /** How many servers the service had before the one that it has, or is to have. */
        private function serversBefore(BerthService $service): int
        {
            try {
                // Both from one answer: another process may order between two.
                $known = $this->call('GET', '/billing/service?billingServiceId=' . rawurlencode($service->id));
                return max(0, (int) ($known['workloadsEver'] ?? 0) - (($known['serverId'] ?? null) === null ? 0 : 1));
            } catch (BerthError $error) {
                // A Berth that does not count them yet: the keys of those that ended answer with them, one after another.
                return $error->status === 404 ? 0 : throw $error;
            }
        }

        /**
         * Ends the server of a service; one that is gone already counts as done. `$knownId`: the server that the service had.
         * Throws `foreign_server` while that one is there under another name: it would go on, and nobody would pay for it.
         */
        public function terminateOnce(BerthService $service, string $knownId = ''): void
        {
            $found = $this->server($service) ?? $this->formerMustBeGone($service);
            if ($found !== null) {
                $this->terminate($this->text($found, 'id'));
            } elseif ($knownId !== '') {
                $this->mustBeGone($knownId, $service);
            }
        }

        private function mustBeGone(string $serverId, BerthService $service): void
        {
            try {
                $found = $this->call('GET', "/servers/$serverId");
            } catch (BerthError $error) {
                if ($error->errorCode === 'server_not_found') {
                    return;
                }
                throw $error;
            }
            if ($this->text($found, 'status') !== 'terminated') {
                $name = $found['billingServiceId'] ?? 'nothing';
                $words = "The server $serverId of this service is there, and is called $name instead of {$service->id}.";
                throw new BerthError('foreign_server', $words);
            }
        }

        /**
         * A server with the service's name of before that was not taken over: its owner has another e-mail. Nobody can tell
         * whose it is, so a person looks; taken for gone, it would run on unpaid. Throws `foreign_server`.
         */
        private function formerMustBeGone(BerthService $service): ?array
        {
            $found = $service->formerId === null ? null : $this->serverWith($service->formerId);
            if ($found === null) {
                return null;
            }
            $words = "The server {$this->text($found, 'id')} is called {$service->formerId}, and its owner has another e-mail than "
                . "this client. If it is this client's, set its billing identifier to {$service->id} in Berth.";
            throw new BerthError('foreign_server', $words);
        }

        /** All servers that the token sees. */
        public function servers(): iterable
        {
            return $this->all($this->serverList() . '?limit=100');
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
            return $this->text($this->call('POST', "/servers/$serverId/sign-in-links", []), 'url');
        }

        /** The lines of a month's usage by server. `$month` is like 2026-11; without it Berth's present month, in UTC. */
        public function usage(?string $month = null): array
        {
            $lines = [];
            foreach ($this->all('/reports/usage?limit=1000' . ($month === null ? '' : '&month=' . rawurlencode($month))) as $line) {
                $lines[$this->text($line, 'serverId')] = $line;
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

        /** A field of an answer that has to be there. */
        private function text(array $answer, string $field): string
        {
            $value = $answer[$field] ?? null;
            return is_string($value) && $value !== '' ? $value : throw $this->wrong("The answer has no $field");
        }

        /** The rows of an answer that has to have some, or none of them. */
        private function rows(array $answer, string $field): array
        {
            $rows = $answer[$field] ?? null;
            $areRows = is_array($rows) && array_is_list($rows) && count(array_filter($rows, 'is_array')) === count($rows);
            return $areRows ? $rows : throw $this->wrong("The answer has no list of $field");
        }

        private function wrong(string $what): BerthError
        {
            $words = "$what, so it was not Berth that answered, or another version of it.";
            return new BerthError('wrong_answer', $words, 0, [], $this->requestId);
        }

        /** @return array{0: ?BerthError, 1: ?float, 2: array} the error, the seconds until it is worth another try, the answer */
        private function attempt(string $method, string $path, ?array $body, ?string $key, int $try): array
        {
            $pause = self::$pause * 2 ** ($try - 1);
            if (!preg_match('/^[\x21-\x7e]+$/D', $this->token)) {
                return [new BerthError('invalid_token', 'The API token is empty, or has a character that no token has.'), null, []];
            }
            [$status, $text, $reason, $said] = $this->exchange($method, $path, $body, $key);
            $this->requestId = preg_match('/^[\x21-\x7e]{1,100}$/D', $said['x-request-id'] ?? '') ? $said['x-request-id'] : '';
            $this->isReplay = ($said['idempotency-replayed'] ?? '') === 'true';
            if ($text === null) {
                $this->note($method, $path, $body, "no answer: $reason");
                return [new BerthError('no_answer', "There was no answer ($reason)."), $pause, []];
            }
            $answer = json_decode($text, true);
            $this->note($method, $path, $body, $answer ?? "status $status");
            if ($status >= 200 && $status < 300) {
                if (is_array($answer) || $status === 204) {
                    return [null, null, is_array($answer) ? $answer : []];
                }
                // A gateway answered, or cut the answer off. What was to be done may be done, so it is asked for again.
                $words = "The answer had the status $status and could not be read.";
                return [new BerthError('no_answer', $words, $status, [], $this->requestId), $pause, []];
            }
            $error = is_array($answer) && is_array($answer['error'] ?? null) ? $answer['error'] : [];
            $code = $error['code'] ?? null;
            $message = $error['message'] ?? null;
            if (!is_string($code) || !is_string($message)) {
                $isPassing = $status >= 500 || $status === 429 || $status === 408;
                $where = $said['location'] ?? '';
                $target = preg_match('/^https?:\/\/[\x21-\x7e]{1,200}$/D', $where) ? " and leads to $where" : '';
                $code = $isPassing ? 'no_answer' : 'wrong_answer';
                $message = "The answer had the status $status$target, and was none of Berth's.";
            }
            $details = is_array($error['details'] ?? null) ? $error['details'] : [];
            $refusal = new BerthError($code, $message, $status, $details, $this->requestId);
            $isWorthATry = in_array($status, [408, 429, 500, 502, 503, 504], true) || $status > 504;
            return [$refusal, $isWorthATry ? ($this->retryAfter($said['retry-after'] ?? '') ?? $pause) : null, []];
        }

        /** Seconds of a Retry-After, which is a number or a date; null for none. */
        private function retryAfter(string $said): ?float
        {
            if (preg_match('/^\d{1,9}$/D', $said)) {
                return (float) $said;
            }
            $at = $said === '' ? false : strtotime($said);
            return $at === false ? null : (float) max(0, $at - time());
        }

        /** @return array{0: int, 1: ?string, 2: string, 3: array} status, body (null: no answer, and why), headers */
        private function exchange(string $method, string $path, ?array $body, ?string $key): array
        {
            $headers = ['Accept: application/json', "Authorization: Bearer {$this->token}", 'Expect:'];
            if ($key !== null) {
                $headers[] = "Idempotency-Key: $key";
            }
            $said = [];
            $text = '';
            $curl = curl_init($this->base . $path);
            curl_setopt_array($curl, [
                CURLOPT_CUSTOMREQUEST => $method,
                CURLOPT_CONNECTTIMEOUT => 10,
                CURLOPT_TIMEOUT_MS => (int) (self::$timeout * 1000),
                CURLOPT_FOLLOWLOCATION => false,
                CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
                CURLOPT_USERAGENT => 'Berth-PHP/1.0',
                CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$said) {
                    if (str_starts_with($line, 'HTTP/')) {
                        // What a proxy said before was not the answer.
                        $said = [];
                    }
                    [$name, $value] = explode(':', $line, 2) + [1 => ''];
                    $said[strtolower(trim($name))] = trim($value);
                    return strlen($line);
                },
                CURLOPT_WRITEFUNCTION => function ($_, string $part) use (&$text) {
                    $text .= $part;
                    return strlen($text) > self::MOST_BYTES ? 0 : strlen($part);
                },
            ]);
            if ($body !== null) {
                $headers[] = 'Content-Type: application/json';
                $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
                curl_setopt($curl, CURLOPT_POSTFIELDS, json_encode((object) $body, $flags));
            }
            curl_setopt($curl, CURLOPT_HTTPHEADER, $headers);
            $isDone = curl_exec($curl);
            $reason = strlen($text) > self::MOST_BYTES ? 'it was too long' : curl_error($curl);
            $status = (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
            curl_close($curl);
            return [$status, $isDone === false ? null : $text, $reason, $said];
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
