<?php
// Loads classes of a platform's own checkout, which stays as it is, with small classes of ours in place of the packages
// that are not in it.
require dirname(__DIR__) . '/hold.php';

/** PHP before 8.3 cannot read the types of class constants; they are taken away from a copy in a folder of ours. */
function load_platform_file(string $path): void
{
    static $folder = null;
    $folder ??= getenv('COPIES') ?: throw new RuntimeException('COPIES names no folder.');
    $copy = "$folder/" . str_replace('/', '+', ltrim($path, '/'));
    if (!is_file($copy)) {
        $source = (string) file_get_contents($path);
        $source = preg_replace('/\bconst (?:int|string|array|bool|float) (?=[A-Z])/', 'const ', $source);
        // A copied file must still find its neighbours.
        $source = str_replace(['__DIR__', '__FILE__'], [var_export(dirname($path), true), var_export($path, true)], $source);
        file_put_contents("$copy." . getmypid(), $source);
        rename("$copy." . getmypid(), $copy);
    }
    require_once $copy;
}

/** @param array<string, string> $folders the folders of classes by the start of their names */
function load_platform(array $folders, string $separator = '\\'): void
{
    spl_autoload_register(function (string $class) use ($folders, $separator) {
        foreach ($folders as $start => $folder) {
            $path = $folder . '/' . str_replace($separator, '/', substr($class, strlen($start))) . '.php';
            if (str_starts_with($class, $start) && is_file($path)) {
                load_platform_file($path);
                return;
            }
        }
    });
}
