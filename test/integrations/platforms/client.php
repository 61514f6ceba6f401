<?php
// Calls one method of the client that all modules share, for a service as a module describes it.
require __DIR__ . '/hold.php';
require dirname(__DIR__, 3) . '/integrations/shared/BerthClient.php';
hurry();

['url' => $url, 'token' => $token, 'service' => $given, 'action' => $action, 'given' => $arguments] =
    json_decode(stream_get_contents(STDIN), true);
$logged = [];
$log = function (string $method, string $path, mixed $sent, mixed $answer) use (&$logged) {
    $logged[] = [$method, $path, $sent, $answer];
};
$client = new BerthClient($url, $token, $log);
// A name may come in the characters of an old database.
$name = base64_decode($given['name'], true);
$service = new BerthService(...['name' => $name] + $given);
try {
    $answer = match ($action) {
        'installation' => BerthService::installationOf(...$arguments),
        'newInstallation' => BerthService::newInstallation(...$arguments),
        'call' => $client->call(...$arguments),
        'all' => iterator_to_array($client->all(...$arguments), false),
        'createOnce', 'server', 'ownServer', 'knownCustomer', 'customerOf', 'terminateOnce' => $client->$action($service, ...$arguments),
    };
    echo json_encode(['error' => null, 'code' => null, 'answer' => $answer, 'logged' => $logged]);
} catch (BerthError $error) {
    echo json_encode(['error' => $error->words(), 'code' => $error->errorCode, 'answer' => null, 'logged' => $logged]);
}
